# Standard errors of quantile regression by R's quantreg; run from the root of the repository:
#     Rscript tests/data/quantreg/quantreg.R > tests/data/quantreg/quantreg.csv
suppressMessages(library(quantreg))
options(warn = -1)

# not in quantreg: the same density for all rows, from the quantiles of the residuals off the plane (Siddiqui)
quotient <- function(fit, x, level) {
  p <- ncol(x)
  off <- c(fit$residuals[abs(fit$residuals) > 1e-8], rep(0, sum(abs(fit$residuals) <= 1e-8) - p))
  h <- bandwidth.rq(level, nrow(x), hs = TRUE)
  while (level - h < 0 || level + h > 1) h <- h / 2
  diff(quantile(off, c(level - h, level + h))) / (2 * h) * sqrt(level * (1 - level) * diag(solve(crossprod(x))))
}

# not in quantreg: induced smoothing, whose kernels are as wide as the standard error of the plane
smoothed <- function(fit, x, level) {
  n <- nrow(x); p <- ncol(x)
  r <- fit$residuals
  on <- abs(r) <= 1e-8
  psi2 <- ifelse(on, level * (1 - level), ifelse(r > 0, level, level - 1)^2)
  x <- x %*% (unit <- solve(chol(crossprod(x))))
  meat <- crossprod(x, psi2 * x) * n / (n - p)
  counts <- ifelse(on, 1 - p / sum(on), 1) * n / (n - p)
  v <- diag(p) * var(r)
  for (step in 1:2000) {
    s <- sqrt(rowSums((x %*% v) * x))
    d <- solve(crossprod(x, counts * dnorm(r / s) / s * x))
    v <- (v + d %*% meat %*% d) / 2
  }
  sqrt(diag(unit %*% v %*% t(unit)))
}

models <- list(
  penguins = list("penguins.csv", body_mass_g ~ bill_length_mm + bill_depth_mm + flipper_length_mm),
  abalone = list("abalone.csv", rings ~ length + diameter + height)
)
cat(sprintf("# R %s, quantreg %s\n", getRversion(), packageVersion("quantreg")))
cat("data,level,errors,coefficient,estimate,std_error\n")
for (name in names(models)) {
  data <- read.csv(file.path("src/adaline/datasets", models[[name]][[1]]))
  for (level in c(0.1, 0.5, 0.9)) {
    fit <- rq(models[[name]][[2]], tau = level, data = data)
    x <- model.matrix(models[[name]][[2]], data)
    found <- sapply(c(nid = "nid", ker = "ker"), function(errors) summary(fit, se = errors)$coefficients[, 2])
    found <- cbind(found, quotient = quotient(fit, x, level), smoothed = smoothed(fit, x, level))
    for (errors in colnames(found)) for (j in seq_len(ncol(x)))
      cat(sprintf("%s,%g,%s,%s,%.15g,%.15g\n", name, level, errors, colnames(x)[j], coef(fit)[j], found[j, errors]))
  }
}
