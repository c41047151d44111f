# Regressions of groups of rows by R's lm, lm with weights, and glm; run from the root of the repository:
#     Rscript tests/data/groups/groups.R > tests/data/groups/groups.csv
options(digits = 15)
cat(sprintf("# %s\ncase,group,name,estimate,std_error,statistic,p_value\n", R.version.string))
say <- function(case, group, fit) {
  table <- summary(fit)$coefficients
  for (name in rownames(table)) {
    own <- sub("(Intercept)", "intercept", name, fixed = TRUE)
    cat(sprintf("%s,%s,%s,%s\n", case, group, own, paste(sprintf("%.15g", table[name, ]), collapse = ",")))
  }
}
abalone <- read.csv("src/adaline/datasets/abalone.csv")
abalone$old <- as.numeric(abalone$rings > 9)
strict <- glm.control(epsilon = 1e-14, maxit = 100)
for (part in split(abalone, list(abalone$sex, abalone$length > 0.6))) {
  group <- paste(part$sex[1], part$length[1] > 0.6)
  say("lm", group, lm(rings ~ diameter + height + whole_weight, part))
  say("weighted", group, lm(whole_weight ~ diameter + height, part[rep(seq_len(nrow(part)), part$rings), ]))
  say("logistic", group, glm(old ~ diameter + whole_weight, binomial, part, control = strict))
  say("poisson", group, glm(rings ~ diameter + whole_weight, poisson, part, control = strict))
}
