# Clustered errors CR2 and CR3 by R; run from the root of the repository:
#     Rscript tests/data/inference/clusters.R > tests/data/inference/clusters.csv
suppressMessages(library(clubSandwich))
options(warn = -1)
say <- function(case, what, values) {
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
errors <- function(case, fit, groups, ...) {
  if (inherits(fit, "glm")) for (again in 1:2) fit <- update(fit, start = coef(fit))  # weights of the last step
  say(case, "estimate", coef(fit))
  for (type in c("CR2", "CR3")) {
    covariance <- vcovCR(fit, groups, type, ...)
    say(case, type, sqrt(diag(covariance)))
    if (length(unique(groups)) > length(coef(fit))) say(case, paste(type, "of all slopes"), coef(fit)[-1] %*% solve(covariance[-1, -1], coef(fit)[-1]))
  }
}
cat(sprintf("# R %s, clubSandwich %s\n", getRversion(), packageVersion("clubSandwich")))
cat("case,what,index,value\n")
tight <- glm.control(epsilon = 1e-15, maxit = 100)
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
rows <- read.csv("tests/data/glm/rows.csv")
place <- paste(birds$island, birds$year)
blocks <- (seq_len(nrow(rows)) - 1) %/% 4
errors("linear", lm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds), place)
errors("weighted", lm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds, weights = bill_depth_mm), place,
       target = 1 / birds$bill_depth_mm, inverse_var = TRUE)
errors("three groups", lm(body_mass_g ~ bill_length_mm, birds), birds$island)
errors("level of one group", lm(body_mass_g ~ bill_length_mm + I(island == "Dream"), birds), birds$island)
errors("logistic", glm(I(sex == "male") ~ bill_length_mm + body_mass_g, binomial, birds, control = tight), place)
errors("poisson", glm(count ~ x1 + x2, poisson, rows, control = tight), blocks)
errors("gamma", glm(amount ~ x1 + x2, Gamma("log"), rows, control = tight), blocks)
errors("probit", glm(I(count > 2) ~ x1 + x2, binomial("probit"), rows, control = tight), blocks)
