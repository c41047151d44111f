# Elastic nets by R's glmnet; run from the root of the repository:
#     Rscript tests/data/glmnet/glmnet.R > tests/data/glmnet/glmnet.csv
# folds.csv has the fold of each of the first rows, as adaline's `fold_of` gives it.
suppressMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1)
data <- read.csv("src/adaline/datasets/abalone.csv")
x <- as.matrix(data[1:600, c("length", "diameter", "height", "whole_weight", "shucked_weight", "viscera_weight", "shell_weight")])
rings <- data$rings[1:600]
fold <- read.csv("tests/data/glmnet/folds.csv")$fold[1:600] + 1
cat(sprintf("# R %s, glmnet %s\n", getRversion(), packageVersion("glmnet")))
cat("case,mix,l1,name,value\n")
n <- nrow(x)
say <- function(case, mix, lambda, fit) {
  b <- as.matrix(coef(fit, s = lambda))
  for (j in seq_len(nrow(b))) cat(sprintf("%s,%g,%.17g,%s,%.15g\n", case, mix, n * mix * lambda, rownames(b)[j], b[j, 1]))
}
cases <- list(squared = list("gaussian", rings, 1), logistic = list("binomial", as.numeric(rings > 10), 0.5),
              poisson = list("poisson", rings, 0.5))
for (name in names(cases)) {
  case <- cases[[name]]
  for (lambda in c(0.1, 0.01)) {
    fit <- glmnet(x, case[[2]], family = case[[1]], alpha = case[[3]], lambda = c(1, lambda), standardize = FALSE, thresh = 1e-25, maxit = 1e7)
    say(name, case[[3]], lambda, fit)
  }
}
for (name in c("logistic", "poisson")) {
  case <- cases[[name]]
  fit <- glmnet(x, case[[2]], family = case[[1]], alpha = 0.5, lambda = c(1, 0.01), standardize = FALSE, thresh = 1e-25, maxit = 1e7, lower.limits = 0)
  say(paste0(name, "-positive"), 0.5, 0.01, fit)
}
deviation <- apply(x, 2, function(one) sqrt(mean((one - mean(one))^2)))
standard <- sweep(x, 2, deviation, "/")
lambda <- glmnet(standard, rings, standardize = FALSE, nlambda = 20, lambda.min.ratio = 1e-3)$lambda
found <- cv.glmnet(standard, rings, standardize = FALSE, foldid = fold, thresh = 1e-25, lambda = lambda, maxit = 1e7)
for (i in seq_along(found$lambda)) {
  cat(sprintf("cv,1,%.17g,mean,%.15g\n", n * found$lambda[i], found$cvm[i]))
  cat(sprintf("cv,1,%.17g,error,%.15g\n", n * found$lambda[i], found$cvsd[i]))
}
cat(sprintf("cv,1,%.17g,best,0\ncv,1,%.17g,one-standard-error,0\n", n * found$lambda.min, n * found$lambda.1se))
lambda <- glmnet(standard, rings > 10, family = "binomial", standardize = FALSE, nlambda = 12, lambda.min.ratio = 1e-2)$lambda
found <- cv.glmnet(standard, rings > 10, family = "binomial", standardize = FALSE, foldid = fold, thresh = 1e-25, lambda = lambda, maxit = 1e7)
for (i in seq_along(found$lambda)) cat(sprintf("cv-logistic,1,%.17g,mean,%.15g\n", n * found$lambda[i], found$cvm[i]))
