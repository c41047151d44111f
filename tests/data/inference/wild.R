# The restricted wild cluster bootstrap, each draw fitted by lm; run from the root of the repository:
#     Rscript tests/data/inference/wild.R > tests/data/inference/wild.csv
suppressMessages(library(sandwich))
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
birds$place <- paste(birds$island, birds$year)
G <- length(unique(birds$place))
signs <- as.matrix(expand.grid(rep(list(c(1, -1)), G)))[seq(1, 2^G, 2), ]     # the first group's is 1
webb <- c(sqrt(c(0.5, 1, 1.5)), -sqrt(c(0.5, 1, 1.5)))
few <- t(sapply(0:49, function(b) webb[(b * (1:G) + b %/% 3 + (1:G)^2) %% 6 + 1]))
say <- function(case, what, values) for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
cat(sprintf("# R %s, sandwich %s\n", getRversion(), packageVersion("sandwich")))
cat("case,what,index,value\n")
wald <- function(fit, C, value) {
  off <- C %*% coef(fit) - value
  drop(t(off) %*% solve(C %*% vcovCL(fit, birds$place, type = "HC0", cadjust = FALSE) %*% t(C), off))
}
draws <- function(formula, C, value, factors, w) {
  environment(formula) <- environment()
  fit <- lm(formula, birds, weights = w)
  A <- solve(crossprod(model.matrix(fit) * sqrt(w)))
  step <- A %*% t(C) %*% solve(C %*% A %*% t(C), C %*% coef(fit) - value)
  restricted <- coef(fit) - drop(step)
  mean <- drop(model.matrix(fit) %*% restricted)
  rest <- model.response(model.frame(fit)) - mean
  groups <- match(birds$place, sort(unique(birds$place)))
  c(wald(fit, C, value), apply(factors, 1, function(v) {
    birds$again <- mean + rest * v[groups]
    wald(lm(update(formula, again ~ .), birds, weights = w), C, value)
  }))
}
share <- function(W) mean(W[-1] >= W[1] * (1 - 1e-9))
ends <- function(formula, C, w) {
  fit <- lm(formula, birds, weights = w); b <- drop(C %*% coef(fit))
  s <- drop(sqrt(C %*% vcovCL(fit, birds$place, type = "HC0", cadjust = FALSE) %*% t(C)))
  sapply(c(-1, 1), function(side) {
    inside <- 0; outside <- 20
    for (i in 1:40) {
      middle <- (inside + outside) / 2
      if (share(draws(formula, C, b + side * middle * s, signs, w)) > 0.05) inside <- middle else outside <- middle
    }
    b + side * inside * s
  })
}
unit <- function(j, k) matrix(1 * (1:k == j), 1)
one <- function(case, formula, k, js, w = rep(1, nrow(birds)), interval = FALSE) {
  environment(formula) <- environment()
  for (j in js) {
    say(paste(case, j), "signs", draws(formula, unit(j, k), 0, signs, w))
    say(paste(case, j), "webb", draws(formula, unit(j, k), 0, few, w))
  }
  if (interval) say(paste(case, js[1]), "ends", ends(formula, unit(js[1], k), w))
  two <- rbind(unit(js[1], k), unit(js[2], k))
  say(paste(case, "both"), "webb", draws(formula, two, c(0, 1), few, w))
}
one("linear", body_mass_g ~ bill_length_mm + bill_depth_mm, 3, c(2, 3), interval = TRUE)
one("weighted", body_mass_g ~ bill_length_mm + bill_depth_mm, 3, c(2, 3), w = birds$year - 2005)
one("absorbed", body_mass_g ~ bill_length_mm + bill_depth_mm + place, 2 + G, c(2, 3))
