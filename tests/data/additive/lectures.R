# The figures of LECTURES in tests/fits/additive/test_grouped.py, by lme4: crossed groupings of 797 and 300 levels.
#     Rscript tests/data/additive/lectures.R
suppressMessages(library(lme4))
u <- function(i, a) { x <- sin(i * a) * 43758.5453; x - floor(x) }
i <- 1:6000
s <- floor(800 * u(i, 12.9898)); d <- floor(300 * u(i, 78.233)^2); x <- u(i, 3.7)
y <- 3 - x + 0.8 * (u(s + 1, 1.3) - 0.5) + (u(d + 1, 2.1) - 0.5) + 2 * (u(i, 5.9) - 0.5) + 1.5 * x * (u(d + 1, 7.7) - 0.5)
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10))
for (m in list(lmer(y ~ x + (1 | s) + (1 | d), control = control), lmer(y ~ x + (1 | s) + (1 + x | d), control = control, REML = FALSE))) {
  for (again in 1:2) m <- update(m, start = getME(m, "theta"))
  print(c(-logLik(m), sigma(m), fixef(m)), digits = 12)
  print(as.data.frame(VarCorr(m))[, c(1, 2, 3, 5)], digits = 10)
  print(c(ranef(m)$s[1:2, 1], ranef(m)$d[1:2, 1]), digits = 10)
}
