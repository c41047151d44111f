# Generalized linear models by R's glm, MASS and statmod; run from the root of the repository:
#     Rscript tests/data/glm/glm.R
# writes rows.csv, the data, and glm.csv, the results. Weights are frequencies: R is given each row as often.
suppressMessages({library(MASS); library(statmod)})
options(warn = -1)
exact <- glm.control(epsilon = 1e-300, maxit = 200)  # as many steps as it takes: the deviance is level long before
set.seed(7)
n <- 40
x1 <- round(runif(n), 2); x2 <- round(rnorm(n), 2); o <- round(runif(n, -0.2, 0.2), 2); w <- sample(1:3, n, TRUE)
typical <- exp(0.8 + 0.5 * x1 + 0.1 * x2)
rows <- data.frame(
  x1, x2, o, w,
  count = rnbinom(n, mu = 3 * typical, size = 3),
  amount = round(typical * rgamma(n, 6, 6), 3) + 0.001,
  zero = round(ifelse(runif(n) < 0.2, 0, typical * rgamma(n, 4, 4)), 3),
  yes = rbinom(n, 8, plogis(0.6 * x1 + 0.3 * x2 - 0.4))
)
rows$no <- 8 - rows$yes
write.csv(rows, "tests/data/glm/rows.csv", row.names = FALSE, quote = FALSE)
d <- rows[rep(seq_len(n), rows$w), ]

out <- file("tests/data/glm/glm.csv", "w")
cat(sprintf("# R %s, MASS %s, statmod %s\n", getRversion(), packageVersion("MASS"), packageVersion("statmod")), file = out)
cat("family,parameter,link,offset,w0,w1,w2,e0,e1,e2,deviance,null_deviance,dispersion,aic,log_likelihood\n", file = out)
line <- function(family, parameter, link, offset, fit, dispersion = NULL) {
  s <- summary(fit, dispersion = dispersion)
  numbers <- c(coef(fit), s$coefficients[, 2], fit$deviance, fit$null.deviance, s$dispersion, fit$aic, as.numeric(logLik(fit)))
  cat(sprintf("%s,%g,%s,%g,%s\n", family, parameter, link, offset, paste(sprintf("%.17g", numbers), collapse = ",")), file = out)
}
exponents <- c(identity = 1, sqrt = 0.5, log = 0, inverse = -1, inverse_squared = -2, power = 1 / 3)
share <- c(identity = 0.2, sqrt = 0.2, log = 0.2, inverse = 0.05, inverse_squared = 0.005, power = 0.2)  # of the offset
starts <- function(y, p) c(if (p == 0) log(mean(y)) else mean(y)^p, 0, 0)
powers <- list(gaussian = 0, poisson = 1, gamma = 2, inverse_gaussian = 3, tweedie = 1.6)
for (name in names(powers)) for (link in names(exponents)) for (offset in c(0, share[[link]])) {
  p <- powers[[name]]; q <- exponents[[link]]
  y <- switch(name, poisson = d$count + 0, tweedie = d$zero, d$amount)
  part <- d$o * offset
  family <- if (name %in% c("gaussian", "poisson", "gamma", "inverse_gaussian") && link %in% c("identity", "log"))
    switch(name, gaussian = gaussian(link), poisson = poisson(link), gamma = Gamma(link), inverse_gaussian = inverse.gaussian(link))
    else tweedie(var.power = p, link.power = q)
  if (name == "poisson" && link == "sqrt") family <- poisson("sqrt")
  if (name == "gamma" && link == "inverse") family <- Gamma("inverse")
  if (name == "gaussian" && link == "inverse") family <- gaussian("inverse")
  if (name == "inverse_gaussian" && link == "inverse_squared") family <- inverse.gaussian("1/mu^2")
  if (name == "inverse_gaussian" && link == "inverse") family <- inverse.gaussian("inverse")
  start <- starts(y, q)
  for (again in 1:3) {
    m <- glm(y ~ x1 + x2 + offset(part), data = d, family = family, control = exact, start = start)
    start <- coef(m)
  }
  line(name, p, link, offset, m, if (p == 1) 1 else NULL)
}
for (link in c("logit", "probit", "cloglog", "log", "identity")) for (offset in c(0, 0.2)) {
  part <- d$o * offset
  start <- switch(link, log = c(-1, 0.1, 0.1), identity = c(0.4, 0.05, 0.05), NULL)
  m <- glm(cbind(yes, no) ~ x1 + x2 + offset(part), data = d, family = binomial(link), control = exact, start = start)
  line("binomial", 0, link, offset, m, 1)
}
for (link in c("log", "sqrt", "identity")) for (offset in c(0, 0.2)) {
  part <- d$o * offset
  m <- glm(count ~ x1 + x2 + offset(part), data = d, family = negative.binomial(2.5, link), control = exact,
           start = starts(d$count, exponents[[link]]))
  line("negative_binomial", 2.5, link, offset, m, 1)
}
quasi <- glm(count ~ x1 + x2, data = d, family = quasipoisson, control = exact)
line("quasipoisson", 0, "log", 0, quasi)
close(out)

nb <- glm.nb(count ~ x1 + x2 + offset(o), data = d, control = glm.control(epsilon = 1e-15, maxit = 500))
theta <- nb$theta  # glm.nb stops early, and has the error of the shape before its last step: go on to the end
for (again in 1:50) {
  m <- glm(count ~ x1 + x2 + offset(o), data = d, family = negative.binomial(theta), control = exact, start = coef(nb))
  theta <- as.numeric(theta.ml(d$count, fitted(m), limit = 100, eps = 1e-13))
}
mu <- fitted(m)
information <- sum(trigamma(theta) - trigamma(theta + d$count) - 1 / theta + 2 / (mu + theta) - (d$count + theta) / (mu + theta)^2)
s <- summary(m, dispersion = 1)$coefficients
likely <- sum(dnbinom(d$count, size = theta, mu = mu, log = TRUE))
numbers <- c(theta, sqrt(1 / information), s[, 1], s[, 2], deviance(m), 8 - 2 * likely, likely)
stopifnot(abs(theta - nb$theta) < 1e-4 * theta, abs(8 - 2 * likely - AIC(nb)) < 1e-6)
cat(sprintf("%.15g", numbers), sep = "\n", file = "tests/data/glm/glm_nb.csv")
