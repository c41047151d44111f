# Dispersions and powers of maximum likelihood, by R's MASS and by optim over the densities of mgcv; from the root:
#     Rscript tests/data/glm/likely.R
# writes amounts.csv, a compound poisson column, and likely.csv. Weights of rows.csv are frequencies. Columns e0, e1: standard errors of shape or dispersion, of power.
suppressMessages({library(MASS); library(mgcv)})
d <- read.csv("tests/data/glm/rows.csv")
d <- d[rep(seq_len(nrow(d)), d$w), ]
out <- file("tests/data/glm/likely.csv", "w")
cat(sprintf("# R %s, MASS %s, mgcv %s\n", getRversion(), packageVersion("MASS"), packageVersion("mgcv")), file = out)
cat("what,w0,w1,w2,value,power,e0,e1,log_likelihood\n", file = out)
write_line <- function(what, ...) cat(sprintf("%s,%s\n", what, paste(sprintf("%.15g", c(...)), collapse = ",")), file = out)

fit <- glm(amount ~ x1 + x2, family = Gamma("log"), data = d, control = glm.control(epsilon = 1e-15, maxit = 100))
shape <- gamma.shape(fit, it.lim = 100, eps.max = 1e-14)
density <- sum(dgamma(d$amount, shape$alpha, shape$alpha / fitted(fit), log = TRUE))
write_line("shape", coef(fit), shape$alpha, 2, shape$SE, NaN, density)

set.seed(3)
amounts <- data.frame(x1 = round(runif(120), 2), x2 = round(rnorm(120), 2))
amounts$amount <- round(rTweedie(exp(0.8 + 0.5 * amounts$x1 + 0.2 * amounts$x2), p = 1.4, phi = 2), 4)
write.csv(amounts, "tests/data/glm/amounts.csv", row.names = FALSE, quote = FALSE)
x <- model.matrix(~ x1 + x2, amounts)
likely <- function(free, fixed = NULL) {
  p <- if (is.null(fixed)) free[5] else fixed
  if (p < 1.02 || p > 1.98) return(-1e10)
  sum(ldTweedie(amounts$amount, exp(drop(x %*% free[1:3])), p = p, phi = exp(free[4]))[, 1])
}
derivative <- function(f, at) sapply(seq_along(at), function(i) {
  h <- replace(0 * at, i, 1e-4)
  (f(at - 2 * h) - 8 * f(at - h) + 8 * f(at + h) - f(at + 2 * h)) / 12e-4
})
for (fixed in list(1.6, NULL)) {
  f <- function(free) likely(free, fixed)
  at <- c(0.5, 0.5, 0.1, -1, if (is.null(fixed)) 1.4)
  for (round in 1:3) at <- optim(at, f, control = list(fnscale = -1, reltol = 1e-15, maxit = 5000))$par
  for (round in 1:5) at <- at - drop(solve(h <- derivative(function(b) derivative(f, b), at), derivative(f, at)))
  e <- sqrt(diag(solve(-h)))
  if (is.null(fixed)) write_line("power", at[1:3], exp(at[4]), at[5], exp(at[4]) * e[4], e[5], f(at))
  else write_line("dispersion", at[1:3], exp(at[4]), fixed, exp(at[4]) * e[4], NaN, f(at))
}
close(out)
