# Fits one additive model to columns of doubles in a folder: Rscript additive.R FOLDER MODEL RUNS COLUMN...
# Prints the least processor time of the runs, the standard deviation of the errors, versions and the name of the BLAS.

given <- commandArgs(TRUE)
folder <- given[1]
model <- given[2]
runs <- as.integer(given[3])
columns <- given[-(1:3)]
wanted <- if (startsWith(model, "lmer")) "lme4" else "mgcv"
if (!requireNamespace(wanted, quietly = TRUE)) {
  cat("missing\n")
  quit(status = 0)
}
suppressMessages(library(wanted, character.only = TRUE))
read <- function(name) {
  path <- file.path(folder, name)
  readBin(path, "double", file.size(path) / 8)
}
data <- as.data.frame(sapply(columns, read, simplify = FALSE))
if ("g" %in% columns) data$g <- factor(data$g)

fit <- function() {
  if (model == "lmer") return(lmer(y ~ a + (1 + a | g), data))
  curves <- sprintf("s(%s, bs = '%s')", setdiff(columns, "y"), model)
  bam(as.formula(paste("y ~", paste(curves, collapse = " + "))), data = data, discrete = TRUE, method = "fREML")
}
least <- Inf
for (run in seq_len(runs)) {
  took <- system.time(found <- fit())
  least <- min(least, took[["user.self"]] + took[["sys.self"]])
}
blas <- sub("[.]so.*", "", basename(extSoftVersion()[["BLAS"]]))
versions <- sprintf("R %s, %s %s, %s", getRversion(), wanted, packageVersion(wanted), blas)
cat(sprintf("%.6f\t%.8f\t%s\n", least, sigma(found), versions))
