# Prior weights by R's glm; run from the root of the repository:
#     Rscript tests/data/glm/weights.R > tests/data/glm/weights.csv
# Weights are inverse variances up to a factor, some of them zero. The log-likelihoods are those of densities whose dispersion
# is divided by the weight of the row, at deviance / rows: R's own AIC is that of gaussian and of poisson, and weighs log
# densities as if weights were frequencies in Gamma and inverse.gaussian.
suppressMessages({library(statmod); library(sandwich); library(glmnet)})
options(warn = -1)
exact <- glm.control(epsilon = 1e-300, maxit = 200)
rows <- read.csv("tests/data/glm/rows.csv")
rows$p <- ifelse(seq_len(40) %% 9 == 0, 0, round(0.1 + rows$w * (1 + rows$x1 + abs(rows$x2)), 2))
rows$share <- rows$yes / (rows$yes + rows$no)
rows$trials <- rows$w * 4
say <- function(case, what, values) {
  values <- as.vector(t(values))
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
cat(sprintf("# R %s, statmod %s, sandwich %s, glmnet %s\n", getRversion(), packageVersion("statmod"), packageVersion("sandwich"),
            packageVersion("glmnet")))
cat("case,what,index,value\n")
say("rows", "weight", rows$p)

densities <- list(
  gaussian = function(y, mu, phi) dnorm(y, mu, sqrt(phi), log = TRUE),
  Gamma = function(y, mu, phi) dgamma(y, 1 / phi, scale = mu * phi, log = TRUE),
  inverse.gaussian = function(y, mu, phi) dinvgauss(y, mu, dispersion = phi, log = TRUE)
)
fitted_by <- function(formula, family, start = NULL) {
  for (again in 1:3) {
    fit <- glm(formula, family, rows, weights = p, control = exact, start = start)
    start <- coef(fit)
  }
  fit
}
one <- function(case, formula, family, start = NULL) {
  fit <- fitted_by(formula, family, start)
  s <- summary(fit)
  say(case, "estimate", coef(fit))
  say(case, "std_error", s$coefficients[, 2])
  say(case, "p_value", s$coefficients[, 4])
  say(case, "fit", c(deviance(fit), fit$null.deviance, s$dispersion, df.residual(fit), fit$df.null))
  some <- rows$p > 0
  density <- densities[[fit$family$family]]
  kept <- glm(formula, family, rows[some, ], weights = p, control = exact, start = coef(fit))
  likely <- if (is.null(density)) as.numeric(logLik(kept))
    else sum(density(kept$y, fitted(kept), deviance(kept) / sum(some) / rows$p[some]))
  if (fit$family$family == "gaussian") stopifnot(abs(likely - as.numeric(logLik(kept))) < 1e-9)
  say(case, "log_likelihood", likely)
  say(case, "HC0", sqrt(diag(vcovHC(kept, type = "HC0"))))
  say(case, "HC3", sqrt(diag(vcovHC(kept, type = "HC3"))))
  say(case, "leverage", hatvalues(kept)[1:12])
  say(case, "cooks_distance", cooks.distance(kept)[1:12])
  say(case, "studentized", rstudent(kept)[1:12])
}
one("gaussian", amount ~ x1 + x2, gaussian)
one("gaussian_log", amount ~ x1 + x2, gaussian("log"), c(0.8, 0, 0))
one("gamma", amount ~ x1 + x2, Gamma("log"))
one("gamma_inverse", amount ~ x1 + x2, Gamma("inverse"), c(0.4, 0, 0))
one("inverse_gaussian", amount ~ x1 + x2, inverse.gaussian("log"), c(0.8, 0, 0))
one("poisson", count ~ x1 + x2, poisson)
one("poisson_offset", count ~ x1 + x2 + offset(o), poisson)
one("quasipoisson", count ~ x1 + x2, quasipoisson)
one("binomial", cbind(yes, no) ~ x1 + x2, binomial)
one("quasibinomial", cbind(yes, no) ~ x1 + x2, quasibinomial("probit"))

# shares, whose weights are trials
shares <- glm(share ~ x1 + x2, binomial, rows, weights = trials, control = exact)
s <- summary(shares)
say("shares", "estimate", coef(shares))
say("shares", "std_error", s$coefficients[, 2])
say("shares", "fit", c(deviance(shares), shares$null.deviance, s$dispersion, df.residual(shares), shares$df.null))

# the end of the profile interval of x1 by F: where the deviance has risen by dispersion x t^2
gamma <- fitted_by(amount ~ x1 + x2, Gamma("log"))
phi <- summary(gamma)$dispersion
rise <- function(b) deviance(glm(amount ~ x2 + offset(b * x1), Gamma("log"), rows, weights = p, control = exact)) -
  deviance(gamma) - phi * qt(0.975, df.residual(gamma))^2
b <- coef(gamma)[2]
say("gamma", "profile", c(uniroot(rise, c(b - 2, b), tol = 1e-13)$root, uniroot(rise, c(b, b + 2), tol = 1e-13)$root))

# nets, whose weights glmnet divides by their mean
for (family in c("gaussian", "poisson")) {
  lambda <- c(0.2, 0.05, 0.01)
  y <- if (family == "gaussian") rows$amount else rows$count
  fit <- glmnet(as.matrix(rows[, c("x1", "x2")]), y, family, weights = rows$p, lambda = lambda, standardize = FALSE, thresh = 1e-22,
                maxit = 1e7)
  for (k in 1:3) say(paste0("net_", family), paste0("lambda", k), as.vector(coef(fit)[, k]))
}
