# Bootstrap intervals of R's boot for the coefficients of a regression under given weights of replicates, with the
# jackknife's influence and with standard errors HC0 of each replicate; run from the root of the repository:
#     Rscript tests/data/bootstrap/bootstrap.R > tests/data/bootstrap/bootstrap.json
library(boot)
set.seed(3)
data <- head(na.omit(read.csv("src/adaline/datasets/penguins.csv")), 40)
n <- nrow(data); B <- 199
fit <- lm(body_mass_g ~ bill_length_mm + flipper_length_mm, data)
x <- model.matrix(fit)
hc0 <- function(fit, w) {
  r <- data$body_mass_g - drop(x %*% coef(fit))
  bread <- solve(crossprod(x, w * x))
  diag(bread %*% crossprod(x, w * r^2 * x) %*% bread)
}
weights <- matrix(rpois(n * B, 1), B, n)
fits <- lapply(seq_len(B), function(b) lm(body_mass_g ~ bill_length_mm + flipper_length_mm, data, weights = weights[b, ]))
t <- t(sapply(fits, coef))
v <- t(sapply(seq_len(B), function(b) hc0(fits[[b]], weights[b, ])))
without <- t(sapply(seq_len(n), function(i) coef(lm(body_mass_g ~ bill_length_mm + flipper_length_mm, data[-i, ]))))
L <- (n - 1) * sweep(-without, 2, colMeans(without), "+")
out <- boot(data, function(d, i) 0, 2)
ends <- lapply(1:3, function(j) {
  out$R <- B
  found <- boot.ci(out, conf = 0.9, type = c("perc", "bca"), t0 = unname(coef(fit)[j]), t = t[, j], L = L[, j])
  by_t <- boot:::stud.ci(c(coef(fit)[j], hc0(fit, rep(1, n))[j]), cbind(t[, j], v[, j]), conf = 0.9)
  list(percentile = found$percent[4:5], bca = found$bca[4:5], studentised = by_t[4:5])
})
acceleration <- apply(L, 2, function(l) sum(l^3) / (6 * sum(l^2)^1.5))
show <- function(v) paste0("[", paste(sprintf("%.15g", v), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, show), collapse = ",\n "), "]")
cat(sep = "", "{\"versions\": \"R ", as.character(getRversion()), ", boot ", as.character(packageVersion("boot")), "\",\n\"weights\": ", paste0("[", paste(apply(weights, 1, function(w)
  paste0("\"", paste(w, collapse = ""), "\"")), collapse = ",\n "), "]"),
  ",\n\"acceleration\": ", show(acceleration), ",\n\"errors\": ", show(sqrt(hc0(fit, rep(1, n)))),
  ",\n\"last_errors\": ", show(sqrt(v[B, ])),
  paste0(sapply(c("percentile", "bca", "studentised"), function(k)
    paste0(",\n\"", k, "\": ", rows(t(sapply(ends, function(e) e[[k]]))))), collapse = ""), "}\n")
