# HAC errors with the lags that R's sandwich chooses; run from the root of the repository:
#     Rscript tests/data/robust/lags.R > tests/data/robust/lags.csv
suppressMessages({library(sandwich); library(MASS)})
options(warn = -1)
say <- function(case, what, values) {
  for (i in seq_along(values)) cat(sprintf("%s,%s,%d,%.15g\n", case, what, i - 1, values[i]))
}
hac <- function(case, fit) {
  say(case, "lags", floor(bwNeweyWest(fit, prewhite = FALSE)))
  say(case, "HAC", sqrt(diag(NeweyWest(fit, prewhite = FALSE))))
}
tight <- glm.control(epsilon = 1e-15, maxit = 100)
# The weights that glm returns are those of the coefficients before the last step: from the solution, they are exact.
settled <- function(...) { fit <- glm(..., control = tight); glm(..., control = tight, start = coef(fit)) }
cat(sprintf("# R %s, sandwich %s\n", getRversion(), packageVersion("sandwich")))
cat("case,what,index,value\n")
longley <- read.csv("src/adaline/datasets/longley.csv")
hac("longley", lm(Employed ~ GNP + Unemployed, longley))
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv"))
hac("penguins", lm(body_mass_g ~ bill_length_mm + flipper_length_mm, birds))
hac("constant", lm(body_mass_g ~ 1, birds))
hac("through zero", lm(body_mass_g ~ flipper_length_mm - 1, birds))
hac("logistic", settled(I(sex == "male") ~ bill_length_mm + body_mass_g, binomial, birds))
shells <- read.csv("src/adaline/datasets/abalone.csv")
hac("poisson", settled(rings ~ length + shell_weight, poisson, shells))
