# Two-stage least squares and LIML by R; run from the root of the repository:
#     Rscript tests/data/instruments/instruments.R > tests/data/instruments/instruments.csv
suppressMessages({library(AER); library(sandwich)})
options(warn = -1)
say <- function(case, what, values) {
  values <- as.vector(t(values))
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
se <- function(v, keep) sqrt(diag(v))[keep]
cat(sprintf("# R %s, AER %s, sandwich %s\n", getRversion(), packageVersion("AER"), packageVersion("sandwich")))
cat("case,what,index,value\n")
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
birds$place <- paste(birds$island, birds$year)
# leverages in the second stage, of rows and groups (as in R's packages ivreg and clubSandwich)
tempered <- function(X, P, r, w, type, g, bread = crossprod(P * w, P), n = nrow(X)) {
  A <- solve(bread)
  if (type %in% c("HC2", "HC3")) {
    h <- w * rowSums((P %*% A) * P)
    S <- P * w * r / (1 - h)^(if (type == "HC2") 0.5 else 1)
  } else {
    S <- t(sapply(split(seq_along(r), g), function(i) {
      Q <- chol(A) %*% t(P[i, , drop = FALSE] * sqrt(w[i]))
      e <- eigen(diag(ncol(Q)) - crossprod(Q), symmetric = TRUE)
      half <- e$vectors %*% (t(e$vectors) * e$values^(if (type == "CR2") -0.5 else -1))
      t(P[i, , drop = FALSE] * sqrt(w[i])) %*% half %*% (sqrt(w[i]) * r[i])
    }))
  }
  A %*% crossprod(S) %*% A
}
report <- function(case, formula, keep = TRUE, w = NULL) {
  birds$w <- if (is.null(w)) rep(1, nrow(birds)) else w
  fit <- if (is.null(w)) ivreg(formula, data = birds) else ivreg(formula, data = birds, weights = w)
  environment(fit$formula) <- environment(fit$terms$regressors) <- environment()
  X <- model.matrix(fit, component = "regressors"); P <- model.matrix(fit, component = "projected")
  n <- nrow(X); p <- ncol(X); r <- residuals(fit); g <- birds$place; G <- length(unique(g))
  say(case, "estimate", coef(fit)[keep])
  say(case, "classical", se(vcov(fit), keep))
  A <- solve(crossprod(P * birds$w, P)); S <- P * birds$w * r
  say(case, "HC0", se(A %*% crossprod(S) %*% A, keep))
  if (is.null(w)) stopifnot(all.equal(unname(A %*% crossprod(S) %*% A), unname(vcovHC(fit, type = "HC0"))))
  say(case, "HC1", se(A %*% crossprod(S) %*% A * n / (n - p), keep))
  s <- rowsum(S, g)
  say(case, "CR1", se(A %*% crossprod(s) %*% A * G / (G - 1) * (n - 1) / (n - p), keep))
  if (is.null(w)) stopifnot(all.equal(unname(A %*% crossprod(s) %*% A * G / (G - 1) * (n - 1) / (n - p)),
                                      unname(vcovCL(fit, g, type = "HC1"))))
  for (type in c("HC2", "HC3", "CR2", "CR3")) say(case, type, se(tempered(X, P, r, birds$w, type, g), keep))
  found <- summary(fit, diagnostics = TRUE)
  say(case, "fit", c(found$sigma, found$r.squared, found$waldtest[1]))
  D <- found$diagnostics
  if (!("(Intercept)" %in% colnames(X))) {  # AER takes residuals about their mean, which is not zero without a constant
    Z <- model.matrix(fit, component = "instruments")
    D["Sargan", 3] <- n * (1 - sum(lm.fit(Z, r)$residuals^2) / sum(r^2))
    D["Sargan", 4] <- pchisq(D["Sargan", 3], D["Sargan", 1], lower.tail = FALSE)
  }
  say(case, "diagnostics", D)
  if (is.null(w)) say(case, "diagnostics HC0", summary(fit, vcov. = function(x) vcovHC(x, type = "HC0"), diagnostics = TRUE)$diagnostics)
}
liml <- function(case, y, x, d, z, w = rep(1, length(y)), keep = TRUE) {
  q <- function(on, t) { t <- as.matrix(t); f <- lm.wfit(on, t, w); crossprod(as.matrix(f$residuals) * w, as.matrix(f$residuals)) }
  Z <- cbind(x, z); X <- cbind(x, d); yd <- cbind(y, d)
  kappa <- min(Re(eigen(solve(q(Z, yd), q(x, yd)))$values))
  MX <- as.matrix(lm.wfit(Z, X, w)$residuals); n <- nrow(X); p <- ncol(X)
  Q <- X - kappa * MX                                   # what the estimating equations multiply residuals by
  B <- crossprod(X * w, Q); b <- solve(B, crossprod(Q * w, y)); r <- drop(y - X %*% b); A <- solve(B)
  say(case, "kappa", kappa)
  say(case, "estimate", b[keep])
  say(case, "classical", sqrt(diag(A) * sum(w * r^2) / (n - p))[keep])
  say(case, "HC0", se(A %*% crossprod(Q * w * r) %*% A, keep))
  s <- rowsum(Q * w * r, birds$place); G <- nrow(s)
  say(case, "CR1", se(A %*% crossprod(s) %*% A * G / (G - 1) * (n - 1) / (n - p), keep))
}
one <- model.matrix(~ 1, birds)
with(birds, {
  gentoo <- 1 * (species == "Gentoo"); male <- 1 * (sex == "male"); chinstrap <- 1 * (species == "Chinstrap")
  liml("liml exact", body_mass_g, cbind(1, bill_length_mm), cbind(flipper_length_mm), cbind(bill_depth_mm))
  liml("liml over", body_mass_g, cbind(1, bill_length_mm), cbind(flipper_length_mm), cbind(gentoo, chinstrap, male))
  liml("liml two", body_mass_g, cbind(1, bill_length_mm), cbind(flipper_length_mm, bill_depth_mm), cbind(gentoo, chinstrap, male))
  liml("liml weighted", body_mass_g, cbind(1, bill_length_mm), cbind(flipper_length_mm), cbind(gentoo, chinstrap, male), year - 2005)
})
report("exact", body_mass_g ~ bill_length_mm + flipper_length_mm | bill_length_mm + bill_depth_mm)
report("over", body_mass_g ~ bill_length_mm + flipper_length_mm | bill_length_mm + species + sex)
report("two", body_mass_g ~ bill_length_mm + flipper_length_mm + bill_depth_mm | bill_length_mm + species + sex)
report("origin", body_mass_g ~ bill_length_mm + flipper_length_mm - 1 | bill_length_mm + bill_depth_mm + year - 1)
report("weighted", body_mass_g ~ bill_length_mm + flipper_length_mm | bill_length_mm + species + sex, w = birds$year - 2005)
report("absorbed", body_mass_g ~ bill_length_mm + flipper_length_mm + island + factor(year) |
       bill_length_mm + bill_depth_mm + sex + island + factor(year), keep = 2:3)
