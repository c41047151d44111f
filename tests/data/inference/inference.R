# Robust errors, profile intervals and influence by R; run from the root of the repository:
#     Rscript tests/data/inference/inference.R > tests/data/inference/inference.csv
suppressMessages({library(sandwich); library(MASS)})
options(warn = -1)
say <- function(case, what, values) {
  values <- as.vector(t(values))
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
errors <- function(v) sqrt(diag(v))
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
# the ends of a profile interval, by refits at a root: confint interpolates and has four digits
ends <- function(fit, cut = qnorm(0.975)) {
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
