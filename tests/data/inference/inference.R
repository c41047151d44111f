# Robust errors, profile intervals and influence by R; run from the root of the repository:
#     Rscript tests/data/inference/inference.R > tests/data/inference/inference.csv
suppressMessages({library(sandwich); library(MASS)})
options(warn = -1)
say <- function(case, what, values) {
  values <- as.vector(t(values))
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
errors <- function(v) sqrt(diag(v))
known <- function(fit) family(fit)$family %in% c("poisson", "binomial")
measures <- function(case, fit) {
  rows <- seq_along(fitted(fit)) <= 12
  infl <- influence(fit)
  say(case, "leverage", hatvalues(fit)[rows])
  say(case, "cooks_distance", cooks.distance(fit)[rows])
  say(case, "standardized", rstandard(fit)[rows])
  say(case, "studentized", rstudent(fit)[rows])
  say(case, "dffits", dffits(fit)[rows])
  say(case, "dfbetas", dfbetas(fit)[rows, ])
  if (inherits(fit, "glm")) {
    say(case, "pearson", residuals(fit, "pearson")[rows])
    say(case, "deviance", residuals(fit, "deviance")[rows])
  }
}
# the ends of a profile interval, by refits at a root: confint interpolates and has four digits, and takes the normal
# distribution where the dispersion is estimated, which F on 1 and n - p degrees of freedom is for
ends <- function(fit, cut = if (known(fit)) qnorm(0.975) else qt(0.975, df.residual(fit))) {
  X <- model.matrix(fit); y <- fit$y; w <- fit$prior.weights; o <- if (is.null(fit$offset)) 0 else fit$offset
  se <- errors(vcov(fit)); phi <- summary(fit)$dispersion
  out <- sapply(seq_len(ncol(X)), function(j) {
    r <- function(b) {
      held <- glm.fit(X[, -j, drop = FALSE], y, weights = w, offset = o + X[, j] * b, family = family(fit),
                      etastart = fit$linear.predictors, control = list(epsilon = 1e-15, maxit = 100))
      sqrt(max(held$deviance - deviance(fit), 0) / phi) - cut
    }
    sapply(c(-1, 1), function(s) uniroot(r, coef(fit)[j] + s * se[j] * c(0.5, 1.5) * cut, extendInt = if (s > 0) "upX" else "downX",
                                         tol = 1e-13 * se[j], maxiter = 200)$root)
  })
  out
}
likelihoods <- function(case, fit, groups) {
  for (again in 1:2) fit <- update(fit, start = coef(fit))  # its weights are those of the step before the last
  say(case, "estimate", coef(fit))
  say(case, "classical", errors(vcov(fit)))
  for (type in c("HC0", "HC1", "HC2", "HC3", "HC4")) say(case, type, errors(vcovHC(fit, type = type)))
  say(case, "cluster", errors(vcovCL(fit, groups, type = "HC1")))
  say(case, "profile", ends(fit))
  measures(case, fit)
}
cat(sprintf("# R %s, sandwich %s\n", getRversion(), packageVersion("sandwich")))
cat("case,what,index,value\n")
tight <- glm.control(epsilon = 1e-15, maxit = 100)
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
likelihoods("logistic", glm(I(sex == "male") ~ bill_length_mm + body_mass_g, binomial, birds, control = tight),
            paste(birds$island, birds$year))
fit <- lm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds)
for (type in c("HC4")) say("linear", type, errors(vcovHC(fit, type = type)))
for (lag in c(0, 3)) say("linear", paste0("HAC", lag), errors(NeweyWest(fit, lag = lag, prewhite = FALSE)))
measures("linear", fit)
rows <- read.csv("tests/data/glm/rows.csv")
blocks <- (seq_len(nrow(rows)) - 1) %/% 4
cases <- list(
  poisson = list(count ~ x1 + x2 + offset(o), poisson()), poisson_sqrt = list(count ~ x1 + x2, poisson("sqrt")),
  quasipoisson = list(count ~ x1 + x2, quasipoisson()), gamma = list(amount ~ x1 + x2, Gamma("log")),
  gamma_inverse = list(amount ~ x1 + x2, Gamma()), inverse_gaussian = list(amount ~ x1 + x2, inverse.gaussian("log")),
  gaussian_log = list(amount ~ x1 + x2, gaussian("log")), binomial = list(cbind(yes, no) ~ x1 + x2 + offset(o), binomial()),
  probit = list(cbind(yes, no) ~ x1 + x2, binomial("probit")),
  negative_binomial = list(count ~ x1 + x2, negative.binomial(2.5))
)
for (case in names(cases)) {
  start <- if (case == "gaussian_log") c(1, 0, 0) else NULL
  likelihoods(case, glm(cases[[case]][[1]], cases[[case]][[2]], rows, control = tight, start = start), blocks)
}
# likelihood ratios, and F where the dispersion is estimated
for (case in names(cases)) {
  if (case == "negative_binomial") next
  large <- glm(cases[[case]][[1]], cases[[case]][[2]], rows, control = tight, start = if (case == "gaussian_log") c(1, 0, 0) else NULL)
  for (again in 1:2) large <- update(large, start = coef(large))
  small <- update(large, . ~ . - x1, start = coef(large)[-2])
  free <- case %in% c("poisson", "poisson_sqrt", "binomial", "probit")
  table <- anova(small, large, test = if (free) "LRT" else "F")
  say(case, "anova", c(table[2, "Deviance"], if (free) -1 else table[2, "F"], table[2, ncol(table)]))
}
# ordered classes: to about six digits, as optim finds them
rows$class <- cut(rows$count, c(-1, 4, 8, 1000), labels = c("few", "some", "many"), ordered_result = TRUE)
fit <- polr(class ~ x1 + x2, rows, Hess = TRUE, control = list(reltol = 1e-16, maxit = 1000))
say("ordinal", "HC0", errors(sandwich(fit)))
say("ordinal", "cluster", errors(vcovCL(fit, blocks, type = "HC1")))
