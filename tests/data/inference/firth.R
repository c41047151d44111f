# Profile intervals under Firth's correction where classes are separated; run from the root of the repository:
#     Rscript tests/data/inference/firth.R > tests/data/inference/firth.csv
# Neither brglm2 nor logistf: the penalised likelihood is maximised by BFGS over all coefficients but the one that is held,
# and the ends are the roots of its fall.
rows <- read.csv("tests/data/inference/firth_rows.csv")
cat(sprintf("# R %s\n", getRversion()))
cat("case,what,index,value\n")
say <- function(case, what, values) for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))

for (case in unique(rows$case)) {
  own <- rows[rows$case == case, ]
  x <- as.matrix(own[, c("x1", "x2", "x3")])
  x <- x[, !is.na(x[1, ]), drop = FALSE]
  unit <- apply(x, 2, sd)
  X <- cbind(1, sweep(x, 2, unit, "/"))
  y <- own$y
  minus <- function(b) {
    z <- drop(X %*% b)
    information <- crossprod(X, plogis(z) * plogis(-z) * X)
    -sum(plogis(ifelse(y == 1, z, -z), log.p = TRUE)) - determinant(information)$modulus[1] / 2
  }
  slope <- function(b) {
    p <- plogis(drop(X %*% b))
    h <- rowSums(qr.Q(qr(sqrt(p * (1 - p)) * X, tol = 1e-14))^2)
    drop(crossprod(X, p - y - h * (0.5 - p)))
  }
  lowest <- function(free, start, fixed) {  # the least value with the coefficients that are not free as in `fixed`
    at <- function(u) replace(fixed, free, u)
    for (again in 1:6) {
      found <- optim(start[free], function(u) minus(at(u)), function(u) slope(at(u))[free], method = "BFGS",
                     control = list(reltol = 0, abstol = -Inf, maxit = 2000))
      start <- at(found$par)
    }
    list(value = found$value, par = start)
  }
  p <- ncol(X)
  best <- lowest(seq_len(p), rep(0, p), rep(0, p))
  ends <- sapply(seq_len(p), function(j) sapply(c(-1, 1), function(side) {
    path <- best$par
    rise <- function(b) {
      found <- if (p == 1) list(value = minus(b)) else lowest(setdiff(seq_len(p), j), path, replace(path, j, b))
      path <<- if (p == 1) b else found$par
      2 * (found$value - best$value) - qchisq(0.95, 1)
    }
    step <- 0.5
    while (rise(best$par[j] + side * step) < 0) step <- 1.2 * step
    uniroot(rise, sort(best$par[j] + side * c(step / 1.2 * (step > 0.5), step)), tol = 1e-12)$root
  }))
  say(case, "estimate", best$par / c(1, unit))
  say(case, "lower", ends[1, ] / c(1, unit))
  say(case, "upper", ends[2, ] / c(1, unit))
}
