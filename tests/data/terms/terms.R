# Tests of terms, inflation and marginal means by R; run from the root of the repository:
#     Rscript tests/data/terms/terms.R > tests/data/terms/terms.csv
suppressMessages({library(car); library(emmeans); library(MASS); library(sandwich); library(multcomp)})
options(warn = -1, contrasts = c("contr.treatment", "contr.poly"), digits = 15)
say <- function(case, what, names, values) {
  for (i in seq_along(values)) cat(sprintf('%s,%s,"%s",%.15g\n', case, what, names[i], values[i]))
}
# a table of tests: the column of the statistic, and that of the chance
tests <- function(case, what, table, statistic, chance, squares = NULL) {
  table <- table[!rownames(table) %in% c("Residuals", "(Intercept)", "<none>", "NULL"), , drop = FALSE]
  table <- table[!is.na(table[[statistic]]), , drop = FALSE]
  say(case, paste0(what, ".df"), rownames(table), table[[intersect(c("Df", "df"), names(table))[1]]])
  say(case, paste0(what, ".statistic"), rownames(table), table[[statistic]])
  say(case, paste0(what, ".p"), rownames(table), table[[chance]])
  if (!is.null(squares)) say(case, paste0(what, ".squares"), rownames(table), table[[squares]])
}
sums <- function(fit, data) {  # the same model with contrasts that add up to zero
  factors <- intersect(names(Filter(is.factor, data)), all.vars(formula(fit)))
  own <- setNames(rep(list("contr.sum"), length(factors)), factors)
  if (!inherits(fit, "glm")) return(update(fit, contrasts = own, data = data))
  fit <- update(fit, contrasts = own, data = data, start = NULL)
  for (again in 1:2) fit <- update(fit, start = coef(fit))
  fit
}
inflation <- function(case, fit) {
  found <- vif(fit)
  if (is.matrix(found)) { say(case, "gvif", rownames(found), found[, 1]); say(case, "gvif_root", rownames(found), found[, 3]) }
  else { say(case, "gvif", names(found), found); say(case, "gvif_root", names(found), sqrt(found)) }
}
linear <- function(case, fit, data) {
  type1 <- anova(fit); type2 <- Anova(fit, type = 2); type3 <- Anova(sums(fit, data), type = 3)
  tests(case, "type1", type1, "F value", "Pr(>F)", "Sum Sq")
  tests(case, "type2", type2, "F value", "Pr(>F)", "Sum Sq")
  tests(case, "type3", type3, "F value", "Pr(>F)", "Sum Sq")
  tests(case, "HC3.type2", Anova(fit, type = 2, vcov. = vcovHC(fit, type = "HC3")), "F", "Pr(>F)")
  s <- sums(fit, data)
  tests(case, "HC3.type3", Anova(s, type = 3, vcov. = vcovHC(s, type = "HC3")), "F", "Pr(>F)")
  dropped <- drop1(fit, test = "F")
  tests(case, "drop1", dropped, "F value", "Pr(>F)", "Sum of Sq")
  say(case, "drop1.aic", rownames(dropped), dropped$AIC - dropped$AIC[1])
  inflation(case, fit)
}
family <- function(case, fit, data, f) {
  statistic <- if (f) "F" else "Chisq"; chance <- if (f) "Pr(>F)" else "Pr(>Chisq)"
  tests(case, "wald2", Anova(fit, type = 2, test = "Wald"), "Chisq", "Pr(>Chisq)")
  tests(case, "wald3", Anova(sums(fit, data), type = 3, test = "Wald"), "Chisq", "Pr(>Chisq)")
  ratio <- anova(fit, test = if (f) "F" else "LRT")
  tests(case, "ratio1", ratio, if (f) "F" else "Deviance", if (f) "Pr(>F)" else "Pr(>Chi)")
  for (type in 2:3) {
    found <- Anova(if (type == 3) sums(fit, data) else fit, type = type, test = if (f) "F" else "LR", error.estimate = "pearson")
    tests(case, paste0("ratio", type), found, intersect(c("F value", "F values", "LR Chisq"), names(found))[1], if (f) "Pr(>F)" else "Pr(>Chisq)")
  }
  dropped <- drop1(fit)
  say(case, "drop1.deviance", rownames(dropped), dropped$Deviance)
  say(case, "drop1.aic", rownames(dropped), dropped$AIC - dropped$AIC[1])
  inflation(case, fit)
}
show <- function(case, what, found, level) {
  found <- as.data.frame(found)
  value <- intersect(c("emmean", "rate", "prob", "response", "estimate", "ratio", "odds.ratio"), names(found))[1]
  lower <- intersect(c("lower.CL", "asymp.LCL"), names(found))
  names <- if (is.function(level)) level(found) else found[[level]]
  say(case, paste0(what, ".estimate"), names, found[[value]])
  say(case, paste0(what, ".error"), names, found$SE)
  if (length(lower)) {
    say(case, paste0(what, ".lower"), names, found[[lower]])
    say(case, paste0(what, ".upper"), names, found[[intersect(c("upper.CL", "asymp.UCL"), names(found))]])
  }
  if (!is.null(found$p.value) && !startsWith(what, "means")) say(case, paste0(what, ".p"), names, found$p.value)
}
means <- function(case, fit, by, other = NULL, ...) {
  grid <- emmeans(fit, by, ...)
  scales <- if (inherits(fit, "glm")) c("link", "response") else "link"
  for (scale in scales) {
    show(case, paste0("means.", scale), summary(grid, type = scale, infer = c(TRUE, FALSE)), by)
    show(case, paste0("tukey.", scale), summary(pairs(grid), type = scale, infer = c(TRUE, TRUE)), "contrast")
  }
  for (adjust in c("holm", "bonferroni", "none")) {
    found <- as.data.frame(summary(pairs(grid, adjust = adjust), infer = c(TRUE, TRUE)))
    say(case, paste0(adjust, ".p"), found$contrast, found$p.value)
    say(case, paste0(adjust, ".upper"), found$contrast, found[[intersect(c("upper.CL", "asymp.UCL"), names(found))]])
  }
  show(case, "reference", summary(contrast(emmeans(fit, by, ...), "trt.vs.ctrl1", adjust = "none"), infer = c(TRUE, TRUE)), "contrast")
  show(case, "means.proportional", summary(emmeans(fit, by, weights = "proportional", ...), infer = c(TRUE, FALSE)), by)
  if (!is.null(other)) {
    both <- emmeans(fit, c(by, other), ...)
    show(case, "means.both", summary(both, infer = c(TRUE, FALSE)), function(d) paste(d[[by]], d[[other]], sep = ", "))
    within <- pairs(emmeans(fit, by, by = other, ...))
    show(case, "within", summary(within, infer = c(TRUE, TRUE)), function(d) paste(d$contrast, d[[other]], sep = ", "))
  }
}
cat(sprintf("# R %s, car %s, emmeans %s, MASS %s, sandwich %s, multcomp %s\n", getRversion(), packageVersion("car"),
            packageVersion("emmeans"), packageVersion("MASS"), packageVersion("sandwich"), packageVersion("multcomp")))
cat("case,what,name,value\n")
tight <- glm.control(epsilon = 1e-15, maxit = 100)
birds <- na.omit(read.csv("src/adaline/datasets/penguins.csv", stringsAsFactors = TRUE))
birds$male <- as.numeric(birds$sex == "male")
rows <- read.csv("tests/data/glm/rows.csv")
i <- seq_len(nrow(rows))
rows$g <- factor(c("a", "b", "c")[(i * 7) %% 11 %% 3 + 1])
rows$h <- factor(c("u", "v")[(i * 5) %% 7 %% 2 + 1])
rows$level <- factor(findInterval(rows$count, c(4.5, 8.5)), ordered = TRUE)
two <- lm(body_mass_g ~ species * sex, birds)
linear("two", two, birds)
means("two", two, "species", "sex")
hc3 <- emmeans(two, "species", vcov. = vcovHC(two, type = "HC3"))
show("two", "means.HC3", summary(hc3, infer = c(TRUE, FALSE)), "species")
show("two", "tukey.HC3", summary(pairs(hc3), infer = c(TRUE, TRUE)), "contrast")
covariates <- lm(body_mass_g ~ species + island + sex + flipper_length_mm + bill_depth_mm, birds)
linear("covariates", covariates, birds)
means("covariates", covariates, "species", "sex")
weighted <- lm(body_mass_g ~ species * sex + flipper_length_mm, birds, weights = year - 2005)
linear("weighted", weighted, birds)
means("weighted", weighted, "species", "sex")
curved <- lm(body_mass_g ~ sex * flipper_length_mm + poly(bill_length_mm, 2) + species, birds)
linear("curved", curved, birds)
means("curved", curved, "species", "sex")
at <- emmeans(curved, "sex", at = list(flipper_length_mm = 210, species = c("Adelie", "Gentoo")))
show("curved", "means.at", summary(at, infer = c(TRUE, FALSE)), "sex")
cases <- list(
  poisson = list(count ~ g * x1 + h + offset(o), poisson(), FALSE),
  binomial = list(cbind(yes, no) ~ g + h * x1 + offset(o), binomial(), FALSE),
  probit = list(cbind(yes, no) ~ g + h + x2, binomial("probit"), FALSE),
  gamma = list(amount ~ g * h + x2, Gamma("log"), TRUE),
  quasipoisson = list(count ~ g * h + x1, quasipoisson(), TRUE)
)
for (case in names(cases)) {
  fit <- glm(cases[[case]][[1]], cases[[case]][[2]], rows, control = tight)
  for (again in 1:2) fit <- update(fit, start = coef(fit))
  family(case, fit, rows, cases[[case]][[3]])
  means(case, fit, "g", "h", offset = 0)
}
logistic <- glm(male ~ species * bill_length_mm + body_mass_g, binomial, birds, control = tight)
for (again in 1:2) logistic <- update(logistic, start = coef(logistic))
family("logistic", logistic, birds, FALSE)
means("logistic", logistic, "species")
ordered <- polr(level ~ g + h + x1, rows, Hess = TRUE, control = list(reltol = 1e-15, maxit = 1000))
tests("ordered", "ratio2", Anova(ordered, type = 2), "LR Chisq", "Pr(>Chisq)")
show("ordered", "means.link", summary(emmeans(ordered, "g"), infer = c(TRUE, FALSE)), "g")
show("ordered", "tukey.link", summary(pairs(emmeans(ordered, "g")), infer = c(TRUE, TRUE)), "contrast")
shares <- as.data.frame(emmeans(ordered, ~ g | level, mode = "prob"))
say("ordered", "shares.estimate", paste(shares$g, shares$level), shares$prob)
say("ordered", "shares.error", paste(shares$g, shares$level), shares$SE)
# the multivariate t of multcomp, to six digits
set.seed(1)
for (case in c("two", "covariates", "poisson")) {
  fit <- if (case == "poisson") glm(cases$poisson[[1]], poisson(), rows, control = tight) else get(case)
  grid <- emmeans(fit, if (case == "poisson") "g" else "species", offset = if (case == "poisson") 0 else NULL)
  tight_mvt <- mvtnorm::GenzBretz(maxpts = 2e6, abseps = 1e-7)
  found <- summary(as.glht(pairs(grid)), test = adjusted("single-step", algorithm = tight_mvt))
  say(case, "mvt.p", names(found$test$coefficients), as.vector(found$test$pvalues))
  say(case, "mvt.quantile", "0.95", attr(confint(as.glht(pairs(grid)), algorithm = tight_mvt)$confint, "calpha"))
}
for (df in c(2, 5, 20, Inf)) for (count in c(2, 3, 6, 12)) for (q in c(1, 2.5, 4, 8))
  say("range", "p", sprintf("%g %g %g", q, count, df), ptukey(q, count, df, lower.tail = FALSE))
