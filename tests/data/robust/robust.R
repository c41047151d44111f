# Robust and clustered errors of M-estimates by R; run from the root of the repository:
#     Rscript tests/data/robust/robust.R > tests/data/robust/robust.csv
# sandwich has the same HC0, HC1 and CR1 for Huber's estimate. Leverages of rlm are those of its weights; HC3 below has
# those of the second derivatives, and Tukey's estimate has them with their sign, which sandwich takes away.
suppressMessages({library(sandwich); library(MASS)})
say <- function(case, what, values) {
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
errors <- function(v) sqrt(diag(v))
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
groups <- paste(birds$island, birds$year)
cat(sprintf("# R %s, sandwich %s, MASS %s\n", getRversion(), packageVersion("sandwich"), packageVersion("MASS")))
cat("case,what,index,value\n")
for (case in c("huber", "tukey")) {
  fit <- lm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds)
  psi <- if (case == "huber") psi.huber else psi.bisquare
  # rlm's own scale is that of the step before the last: the median of |r| and the weights are iterated to rest here
  X <- model.matrix(fit); y <- birds$body_mass_g; b <- coef(fit)
  for (step in 1:2000) {
    r <- drop(y - X %*% b); s <- median(abs(r)) / qnorm(0.75)
    b <- coef(lm.wfit(X, y, psi(r / s)))
  }
  r <- drop(y - X %*% b); s <- median(abs(r)) / qnorm(0.75); u <- r / s
  say(case, "estimate", b)
  score <- s * psi(u) * u * X
  H <- crossprod(X, psi(u, deriv = 1) * X)
  A <- solve(H); h <- pmax(psi(u, deriv = 1), 0) * rowSums((X %*% A) * X)
  n <- nrow(X); p <- ncol(X)
  of <- function(S, c = 1) errors(c * A %*% crossprod(S) %*% A)
  say(case, "HC0", of(score)); say(case, "HC1", of(score, n / (n - p))); say(case, "HC3", of(score / (1 - h)))
  G <- length(unique(groups))
  say(case, "CR1", of(rowsum(score, groups), G / (G - 1) * (n - 1) / (n - p)))
  bent <- pmax(psi(u, deriv = 1), 0)
  jackknife <- t(sapply(unique(groups), function(g) {
    own <- groups == g
    solve(diag(p) - crossprod(X[own, ], bent[own] * X[own, ]) %*% A, colSums(score[own, ]))
  }))
  say(case, "cluster", of(jackknife))
  meat <- crossprod(score)
  for (lag in 1:3) {
    apart <- crossprod(score[-seq_len(lag), ], score[seq_len(n - lag), ])
    meat <- meat + (1 - lag / 4) * (apart + t(apart))
  }
  say(case, "HAC3", errors(A %*% meat %*% A))
  if (case == "huber") {  # the formulas above are those of sandwich
    rlm <- rlm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds, init = b, maxit = 200, acc = 1e-14)
    stopifnot(all.equal(of(score), unname(errors(vcovHC(rlm, type = "HC0"))), check.attributes = FALSE, tolerance = 1e-4),
              all.equal(of(rowsum(score, groups), G / (G - 1) * (n - 1) / (n - p)),
                        errors(vcovCL(rlm, groups, type = "HC1")), check.attributes = FALSE, tolerance = 1e-4),
              all.equal(errors(A %*% meat %*% A), errors(NeweyWest(rlm, lag = 3, prewhite = FALSE)),
                        check.attributes = FALSE, tolerance = 1e-4))
  }
}
