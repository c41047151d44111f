# What the packages of R export, for docs/coming-from.md: Rscript functions.R > functions.txt
packages <- c("stats", "MASS", "glmnet")
versions <- sapply(packages, function(one) as.character(packageVersion(one)))
cat("#", paste(packages, versions, collapse = ", "), "\n")
suppressPackageStartupMessages(for (one in packages) library(one, character.only = TRUE))
for (one in packages) for (name in sort(getNamespaceExports(one))) {
  value <- getExportedValue(one, name)
  if (is.function(value) && !grepl("<-$", name)) cat(one, name, "\n")
}
