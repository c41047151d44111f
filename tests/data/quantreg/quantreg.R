# Standard errors of quantile regression by R's quantreg; run from the root of the repository:
#     Rscript tests/data/quantreg/quantreg.R > tests/data/quantreg/quantreg.csv
suppressMessages(library(quantreg))
options(warn = -1)
models <- list(
  penguins = list("penguins.csv", body_mass_g ~ bill_length_mm + bill_depth_mm + flipper_length_mm),
  abalone = list("abalone.csv", rings ~ length + diameter + height)
)
cat(sprintf("# R %s, quantreg %s\n", getRversion(), packageVersion("quantreg")))
cat("data,level,errors,coefficient,estimate,std_error\n")
for (name in names(models)) {
  data <- read.csv(file.path("src/adaline/datasets", models[[name]][[1]]))
  for (level in c(0.1, 0.5, 0.9)) {
    fit <- rq(models[[name]][[2]], tau = level, data = data)
    for (errors in c("nid", "ker")) {
      table <- summary(fit, se = errors)$coefficients
      for (j in seq_len(nrow(table)))
        cat(sprintf("%s,%g,%s,%s,%.15g,%.15g\n", name, level, errors, rownames(table)[j], table[j, 1], table[j, 2]))
    }
  }
}
