# Offsets of logistic and ordered regressions and of elastic nets, by R's glm, MASS and glmnet; run from the root:
#     Rscript tests/data/glm/offsets.R > tests/data/glm/offsets.csv
suppressMessages({library(MASS); library(sandwich); library(glmnet)})
rows <- read.csv("tests/data/glm/rows.csv")
rows$t <- as.numeric(rows$yes > rows$no)
rows$grade <- factor(pmin(rows$count %/% 2, 3), ordered = TRUE)
rows$shift <- 2 * rows$o
say <- function(case, what, values) {
  values <- as.vector(values)
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
cat(sprintf("# R %s, MASS %s, sandwich %s, glmnet %s\n", getRversion(), packageVersion("MASS"), packageVersion("sandwich"),
            packageVersion("glmnet")))
cat("case,what,index,value\n")

exact <- glm.control(epsilon = 1e-14, maxit = 100)
fit <- glm(t ~ x1 + x2 + offset(shift), binomial, rows, weights = w, control = exact)
say("logistic", "estimate", coef(fit))
say("logistic", "std_error", sqrt(diag(vcov(fit))))
say("logistic", "log_likelihood", c(logLik(fit), logLik(glm(t ~ 1 + offset(shift), binomial, rows, weights = w, control = exact))))
say("logistic", "probability", predict(fit, type = "response")[1:5])
say("logistic", "cooks_distance", cooks.distance(glm(t ~ x1 + x2 + offset(shift), binomial, rows, control = exact))[1:5])
say("logistic", "HC0", sqrt(diag(vcovHC(glm(t ~ x1 + x2 + offset(shift), binomial, rows, control = exact), type = "HC0"))))
rise <- function(b) {
  deviance(glm(t ~ x2 + offset(shift + b * x1), binomial, rows, weights = w, control = exact)) - deviance(fit) - qchisq(0.95, 1)
}
say("logistic", "profile", sapply(list(c(-3, coef(fit)[2]), c(coef(fit)[2], 9)), function(ends) uniroot(rise, ends, tol = 1e-13)$root))

for (link in c("logistic", "probit")) {
  fit <- polr(grade ~ x1 + x2 + offset(shift), rows, weights = w, method = link, Hess = TRUE, control = list(reltol = 1e-16, maxit = 5000))
  say(paste0("ordinal_", link), "estimate", c(coef(fit), fit$zeta))
  say(paste0("ordinal_", link), "log_likelihood", logLik(fit))
  say(paste0("ordinal_", link), "probability", t(predict(fit, type = "probs")[1:3, ]))
}

X <- as.matrix(rows[, c("x1", "x2")])
net <- function(case, y, family) {
  lambda <- c(0.2, 0.05, 0.01)
  fit <- glmnet(X, y, family, offset = rows$shift, lambda = lambda, alpha = 0.6, standardize = FALSE, thresh = 1e-22, maxit = 1e7)
  for (k in 1:3) say(case, paste0("lambda", k), as.vector(coef(fit)[, k]))
}
net("net_gaussian", rows$amount, "gaussian")
net("net_poisson", rows$count, "poisson")
net("net_binomial", rows$t, "binomial")
