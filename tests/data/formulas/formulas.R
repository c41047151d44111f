# Columns that R makes of formulas, and predictions of lm, on the rows fitted and on new ones. Written by
#     Rscript tests/data/formulas/formulas.R > tests/data/formulas/formulas.csv
# Each line: the formula, "rows", "new" (columns of the model matrix but the constant) or "predicted" (by lm, at the new
# rows), the name of the column, and its values.
suppressMessages(library(splines))
i <- 1:16
rows <- data.frame(
  x = sin(i) * 3 + i / 7, z = (i * 7) %% 11 / 2 + 0.5, a = c("p", "q", "r", "s")[i %% 4 + 1], stringsAsFactors = TRUE
)
rows$y <- rows$x^2 - rows$z + cos(5 * i) + (rows$a == "q")
new <- data.frame(
  x = c(-4, -0.5, 0.3, 2, 6), z = c(1, 2.5, 7, 0.25, 3), a = c("q", "s", "p", "r", "q"), stringsAsFactors = TRUE
)
formulas <- c(
  "I(x^2)", "I((x + z)^2 / 3)", "log(z)", "z^2", "(x + z)^2", "factor(a)", "a - 1", "1", "x - 1", ".", ". - z",
  "poly(x, 3)", "poly(z, 5)", "poly(x, 2, raw = TRUE)", "poly(log(z), 2)", "scale(x)", "scale(x, scale = FALSE)",
  "scale(x, center = FALSE)", "I(scale(x)^2)", "bs(x, df = 5)", "bs(x, df = 4, degree = 2)", "bs(x, knots = c(0, 1.5))",
  "bs(x, df = 6, intercept = TRUE)", "bs(x, Boundary.knots = c(-5, 7), df = 4)", "bs(x)", "ns(x, df = 4)", "ns(x)",
  "ns(x, knots = c(0, 1.5))", "ns(x, df = 3, intercept = TRUE)", "ns(x, knots = 1, Boundary.knots = c(-2, 4))",
  "cut(x, c(-5, 0, 1.5, 9))", "cut(x, c(-5, 0, 1.5, 9), right = FALSE)", "cut(z, 3)", "pmin(x, 1)", "pmax(x, z, 2)",
  "I(x > 0)", "I(x <= z)", "C(a, contr.sum)", "C(a, contr.helmert)", "C(a, contr.poly)", "a * ns(x, df = 2)",
  "a:poly(x, 2) + z", "offset(log(z)) + x", "I(x > 0):z", "0 + cut(x, c(-5, 0, 1.5, 9)) + C(a, contr.sum)",
  "poly(x, z, degree = 2)", "poly(x, z, degree = 3, raw = TRUE)", "polym(x, z, degree = 3)", "poly(log(z), x, degree = 2)",
  "I(sin(2 * pi * x))", "ifelse(x > 0, x, 0)", "I(ifelse(a == 'q', z, -z) + ifelse(z < 3, 1, 2))"
)
line <- function(...) cat(paste(c(...), collapse = ";"), "\n", sep = "")
columns <- function(text, part, m) {
  for (j in seq_len(ncol(m))) if (colnames(m)[j] != "(Intercept)") line(text, part, colnames(m)[j], sprintf("%.17g", m[, j]))
}
line("data", "x", "", sprintf("%.17g", rows$x))
line("data", "z", "", sprintf("%.17g", rows$z))
line("data", "y", "", sprintf("%.17g", rows$y))
for (text in formulas) {
  fit <- lm(as.formula(paste("y ~", text)), rows)
  columns(text, "rows", model.matrix(fit))
  if (!text %in% c("cut(z, 3)", "I(scale(x)^2)", "polym(x, z, degree = 3)")) { # for which R does not keep breaks or means to predict by
    t <- delete.response(terms(fit))
    columns(text, "new", model.matrix(t, suppressWarnings(model.frame(t, new, xlev = fit$xlevels)), contrasts.arg = fit$contrasts))
    line(text, "predicted", "", sprintf("%.17g", suppressWarnings(predict(fit, new))))
  }
}
