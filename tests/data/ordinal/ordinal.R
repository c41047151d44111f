# Proportional odds and its kin by R's ordinal (clm) and MASS (polr); run from the root of the repository:
#     Rscript tests/data/ordinal/ordinal.R > tests/data/ordinal/ordinal.csv
suppressMessages({library(ordinal); library(MASS)})
options(warn = -1)
data <- read.csv("src/adaline/datasets/abalone.csv")
data$age <- cut(data$rings, c(0, 7, 9, 11, 30), labels = c("young", "grown", "old", "oldest"), ordered_result = TRUE)
data$times <- seq_len(nrow(data)) %% 3 + 1
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, maxIter = 200L)
cat(sprintf("# R %s, ordinal %s, MASS %s\n", getRversion(), packageVersion("ordinal"), packageVersion("MASS")))
cat("by,link,weights,coefficient,estimate,std_error\n")
put <- function(...) cat(sprintf("%s,%s,%s,%s,%.15g,%.15g\n", ...))
formula <- age ~ length + height + sex
for (link in c("logit", "probit", "cloglog")) for (weights in c("none", "times")) {
  data$w <- if (weights == "times") data$times else 1
  fit <- clm(formula, data = data, link = link, weights = w, control = tight)
  table <- summary(fit)$coefficients
  for (j in seq_len(nrow(table))) put("clm", link, weights, rownames(table)[j], table[j, 1], table[j, 2])
  put("clm", link, weights, "log-likelihood", as.numeric(logLik(fit)), NA)
  fit <- polr(formula, data = data, weights = w, Hess = TRUE, method = if (link == "logit") "logistic" else link,
              control = list(reltol = 1e-16, maxit = 1000))
  table <- summary(fit)$coefficients
  for (j in seq_len(nrow(table))) put("polr", link, weights, rownames(table)[j], table[j, 1], table[j, 2])
  put("polr", link, weights, "log-likelihood", as.numeric(logLik(fit)), NA)
}
