# Rows without trials, ordered classes by profile and without a row, by R; run from the root of the repository:
#     Rscript tests/data/glm/more.R > tests/data/glm/more.csv
suppressMessages({library(ordinal); library(sandwich)})
options(warn = -1)
say <- function(case, what, values) {
  values <- as.vector(t(values))
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
cat(sprintf("# R %s, ordinal %s, sandwich %s\n", getRversion(), packageVersion("ordinal"), packageVersion("sandwich")))
cat("case,what,index,value\n")
rows <- read.csv("tests/data/glm/rows.csv")

# rows without trials: R leaves them out of the degrees of freedom
rows[c(3, 17, 30), c("yes", "no")] <- 0
tight <- glm.control(epsilon = 1e-15, maxit = 100)
fit <- glm(cbind(yes, no) ~ x1 + x2, quasibinomial, rows, control = tight)
for (again in 1:2) fit <- update(fit, start = coef(fit))
s <- summary(fit)
say("no_trials", "estimate", coef(fit))
say("no_trials", "std_error", s$coefficients[, 2])
say("no_trials", "fit", c(df.residual(fit), fit$df.null, s$dispersion, deviance(fit), fit$null.deviance))
some <- rows[rows$yes + rows$no > 0, ]  # BIC of all rows counts them in, where nobs does not
likely <- glm(cbind(yes, no) ~ x1 + x2, binomial, some, control = tight)
say("no_trials", "criteria", c(AIC(likely), BIC(likely)))
without <- glm(cbind(yes, no) ~ x1 + x2, quasibinomial, some, control = tight)
for (again in 1:2) without <- update(without, start = coef(without))
say("no_trials", "HC1", sqrt(diag(vcovHC(without, type = "HC1"))))
say("no_trials", "HC3", sqrt(diag(vcovHC(without, type = "HC3"))))
say("no_trials", "cooks_distance", cooks.distance(without))
say("no_trials", "studentized", rstudent(without))
say("no_trials", "dfbetas", dfbetas(without))

# classes: ends of profile intervals by refits at a root, and one Newton step without each of the first rows
suppressMessages(library(nnet))
rows <- read.csv("tests/data/glm/rows.csv")
rows$class <- cut(rows$count, c(-1, 4, 8, 1000), labels = c("few", "some", "many"), ordered_result = TRUE)
X <- cbind(1, rows$x1, rows$x2); k <- as.integer(rows$class); n <- nrow(rows)
minimum <- function(f, start) {
  for (again in 1:5) start <- nlminb(start, f, control = list(rel.tol = 1e-15, x.tol = 1e-12, eval.max = 5000, iter.max = 2000))$par
  start
}
ends <- function(f, best, se, cut = qnorm(0.975)) {
  least <- f(best)
  sapply(seq_along(best), function(j) sapply(c(-1, 1), function(s) {
    start <- best[-j]
    r <- function(b) {
      held <- function(other) f(append(other, b, j - 1))
      start <<- minimum(held, start)
      sqrt(max(2 * (held(start) - least), 0)) - cut
    }
    uniroot(r, best[j] + s * se[j] * c(0.6, 1.6) * cut, extendInt = if (s > 0) "upX" else "downX", tol = 1e-12 * se[j])$root
  }))
}
steps <- function(case, best, h, gradients, hessians) {  # of the whole, and of single rows
  error <- sqrt(diag(solve(h)))
  moved <- t(sapply(1:12, function(i) -solve(h - hessians(i), gradients(i))))
  say(case, "leverage", sapply(1:12, function(i) sum(diag(solve(h, hessians(i))))))
  say(case, "cooks_distance", sapply(1:12, function(i) {
    v <- solve(h - hessians(i), gradients(i)); sum(v * (h %*% v)) / length(best) }))
  say(case, "dfbetas", t(t(moved) / error))
}
for (link in c("logit", "probit", "cloglog")) {
  fit <- clm(class ~ x1 + x2, data = rows, link = link, control = clm.control(gradTol = 1e-13, relTol = 1e-15, maxIter = 200L))
  g <- switch(link, logit = plogis, probit = pnorm, cloglog = function(a) 1 - exp(-exp(a)))
  f <- function(theta) {
    if (theta[1] >= theta[2]) return(Inf)
    a <- c(-Inf, theta[1:2], Inf); z <- drop(X[, -1] %*% theta[3:4])
    -sum(log(pmax(g(a[k + 1] - z) - g(a[k] - z), 1e-300)))
  }
  case <- paste0("ordered_", link)
  found <- ends(f, coef(fit), sqrt(diag(vcov(fit))))
  say(case, "profile", found[, c(3, 4, 1, 2)])
  of <- function(kept) {
    e <- clm(class ~ x1 + x2, data = rows[kept, ], link = link, doFit = FALSE)
    e$par <- coef(fit); e$clm.nll(e); list(g = e$clm.grad(e), h = e$clm.hess(e))
  }
  whole <- of(1:n); turn <- c(3, 4, 1, 2)
  part <- lapply(1:12, function(i) of(-i))
  steps(case, coef(fit), whole$h[turn, turn], function(i) (whole$g - part[[i]]$g)[turn],
        function(i) (whole$h - part[[i]]$h)[turn, turn])
}
f <- function(theta) { z <- cbind(0, X %*% matrix(theta, 3)); -sum(z[cbind(1:n, k)] - log(rowSums(exp(z)))) }
fit <- multinom(class ~ x1 + x2, rows, trace = FALSE, reltol = 1e-16, maxit = 2000)
best <- minimum(f, as.vector(t(coef(fit))))
pieces <- function(theta) {
  z <- cbind(0, X %*% matrix(theta, 3)); p <- (exp(z) / rowSums(exp(z)))[, -1]; own <- cbind(k == 2, k == 3)
  list(g = function(i) kronecker(p[i, ] - own[i, ], X[i, ]),
       h = function(i) kronecker(diag(p[i, ]) - outer(p[i, ], p[i, ]), outer(X[i, ], X[i, ])))
}
for (again in 1:3) {  # Newton's steps, to the last digit
  here <- pieces(best); h <- Reduce(`+`, lapply(1:n, here$h))
  best <- best - solve(h, Reduce(`+`, lapply(1:n, here$g)))
}
here <- pieces(best)
say("softmax", "estimate", best)
say("softmax", "profile", ends(f, best, sqrt(diag(solve(h)))))
steps("softmax", best, h, here$g, here$h)
say("softmax", "std_error", sqrt(diag(solve(h))))
smaller <- multinom(class ~ x1, rows, trace = FALSE, reltol = 1e-16, maxit = 2000)
say("softmax", "ratio", 2 * (logLik(fit) - logLik(smaller)))

# a negative binomial: likelihood ratios, each model with its own shape
exact <- glm.control(epsilon = 1e-15, maxit = 500)
models <- lapply(list(count ~ 1, count ~ x1, count ~ x1 + x2), function(formula) MASS::glm.nb(formula, rows, control = exact))
likely <- sapply(models, logLik)
say("shape", "log_likelihood", likely[c(3, 1)])
say("shape", "ratio", 2 * (likely[3] - likely[1:2]))
say("shape", "mcfadden", 1 - likely[3] / likely[1])
