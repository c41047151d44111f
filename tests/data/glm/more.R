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
