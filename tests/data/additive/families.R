# Additive models of counts, shares and amounts by mgcv and lme4; run from the root of the repository:
#     Rscript tests/data/additive/families.R > tests/data/additive/families.json
suppressMessages({library(mgcv); library(lme4); library(MASS)})
options(warn = -1, contrasts = c("contr.treatment", "contr.poly"))
number <- function(x) ifelse(is.finite(x), sprintf("%.15g", x), "null")
quoted <- function(x) paste0('"', gsub('"', "'", x), '"')
list_of <- function(x) paste0("[", paste(if (is.numeric(x)) number(x) else quoted(as.character(x)), collapse = ","), "]")
object <- function(x) paste0("{", paste(paste0(quoted(names(x)), ":", unlist(x)), collapse = ",\n "), "}")
first <- TRUE
# `shown` is the formula that is read, `settings` what AdditiveModel takes; y of binomial is a share, its weight `w` trials
say <- function(case, shown, settings, data, figures) {
  columns <- lapply(data, function(x) list_of(if (is.logical(x)) as.numeric(x) else if (is.numeric(x)) as.numeric(x) else as.character(x)))
  of <- lapply(settings, function(x) if (is.numeric(x)) number(x) else quoted(x))
  cat(if (first) "[\n" else ",\n", object(c(list(case = quoted(case), formula = quoted(shown), settings = object(of), data = object(columns)), figures)), sep = "")
  first <<- FALSE
}
at <- function(n) unique(round(seq(1, n, length.out = 7)))
keep <- function(data, ...) na.omit(as.data.frame(data)[, c(...)])
mixed <- function(case, formula, data, settings, family) {
  control <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(rhoend = 1e-11, maxfun = 1e5), check.conv.singular = "ignore")
  environment(formula) <- environment()
  w <- if ("w" %in% names(data)) data$w else rep(1, nrow(data))
  fit <- glmer(formula, data, family = family, control = control, weights = w)
  for (again in 1:6) fit <- update(fit, start = list(theta = getME(fit, "theta"), fixef = fixef(fit)))
  random <- as.data.frame(VarCorr(fit)); one <- ranef(fit)[[1]]; rows <- at(nrow(data))
  say(case, deparse1(formula), c(settings, criterion = "ml"), data, list(by = quoted("lme4"), score = number(-as.numeric(logLik(fit))),
    coef = list_of(fixef(fit)), error = list_of(sqrt(diag(as.matrix(vcov(fit, use.hessian = FALSE))))), sd = list_of(random$sdcor),
    grouping = quoted(names(ranef(fit))[1]), level = list_of(rownames(one)), effect = list_of(one[[1]]),
    row = list_of(rows - 1), fitted = list_of(fitted(fit)[rows])))
}
smooth <- function(case, formula, data, settings, family, theirs = formula) {
  environment(theirs) <- environment()
  w <- if ("w" %in% names(data)) data$w else rep(1, nrow(data))
  data <- as.data.frame(lapply(data, function(x) if (is.character(x)) factor(x) else x))
  control <- gam.control(epsilon = 1e-13, newton = list(conv.tol = 1e-11), mgcv.tol = 1e-13)
  fit <- gam(theirs, data = data, family = family, method = "REML", weights = w, control = control)
  shown <- summary(fit, re.test = FALSE); tests <- summary(fit)$s.table
  rows <- at(nrow(data)); band <- predict(fit, se.fit = TRUE)
  scale <- if (fit$scale.estimated) fit$reml.scale else 1
  groups <- Filter(function(one) inherits(one, "random.effect"), fit$smooth)
  sd <- unlist(lapply(groups, function(one) sqrt(scale / fit$sp[[one$label]])))
  # errors and statistics for the dispersion of the restricted likelihood, that of the residuals taken out
  ratio <- sqrt(scale / fit$sig2)
  say(case, deparse1(formula), settings, data, list(by = quoted("mgcv"), score = number(as.numeric(fit$gcv.ubre)),
    dispersion = number(scale), deviance = number(deviance(fit)), null = number(fit$null.deviance),
    coef = list_of(shown$p.coeff), error = list_of(ratio * shown$se[seq_along(shown$p.coeff)]), sd = list_of(if (is.null(sd)) numeric(0) else sd),
    smooth = list_of(rownames(tests)), edf = list_of(tests[, 1]), reference = list_of(tests[, 2]),
    statistic = list_of(tests[, 3] / ratio^2), p_value = if (fit$scale.estimated) "null" else list_of(tests[, 4]), total = number(sum(fit$edf)),
    row = list_of(rows - 1), fitted = list_of(as.numeric(fitted(fit))[rows]), fitted_error = list_of(ratio * as.numeric(band$se.fit)[rows])))
}
herds <- transform(cbpp, herd = as.character(herd), period = as.character(period), share = incidence / size, w = size)[, c("share", "w", "herd", "period")]
mixed("cbpp", share ~ period + (1 | herd), herds, list(loss = "binomial"), binomial)
ticks <- transform(grouseticks, brood = as.character(BROOD), location = as.character(LOCATION), year = as.character(YEAR), height = as.numeric(cHEIGHT) / 50, ticks = TICKS)
mixed("ticks", ticks ~ year + height + (1 | brood) + (1 | location), ticks[, c("ticks", "year", "height", "brood", "location")], list(loss = "poisson"), poisson)
one <- subset(ticks, year == "96"); one$row <- as.character(one$INDEX)
mixed("ticks_rows", ticks ~ height + (1 | row) + (1 | location), one[, c("ticks", "height", "row", "location")], list(loss = "poisson"), poisson)
ill <- transform(bacteria, y = as.numeric(y == "y"), ID = as.character(ID), trt = as.character(trt))[, c("y", "trt", "week", "ID")]
mixed("bacteria", y ~ trt + week + (1 | ID), ill, list(loss = "logistic"), binomial)
fits <- transform(epil, subject = as.character(subject), trt = as.character(trt), lbase = as.numeric(lbase), t = (period - 2.5) / 2)
mixed("epil_slopes", y ~ trt + lbase + t + (1 + t | subject), fits[, c("y", "trt", "lbase", "t", "subject")], list(loss = "poisson"), poisson)
words <- subset(VerbAgg, id %in% levels(id)[1:40])
words <- data.frame(y = as.numeric(words$r2 == "Y"), anger = words$Anger / 10, mode = as.character(words$mode), id = as.character(words$id), item = as.character(words$item))
mixed("verbs", y ~ anger + mode + (1 | id) + (1 | item), words, list(loss = "binomial"), binomial)
smooth("cbpp_reml", share ~ period + (1 | herd), herds, list(loss = "binomial"), binomial, share ~ period + s(herd, bs = "re"))
found <- data.frame(y = as.numeric(discoveries), year = as.numeric(time(discoveries)))
smooth("discoveries", y ~ s(year, bs = "cr"), found, list(loss = "poisson"), poisson)
smooth("insects", count ~ (1 | spray), transform(InsectSprays, spray = as.character(spray)), list(loss = "poisson", link = "sqrt"), poisson("sqrt"), count ~ s(spray, bs = "re"))
smooth("epil", y ~ trt + s(lbase, bs = "cr", k = 6) + s(lage, bs = "cr", k = 6) + (1 | subject), fits[, c("y", "trt", "lbase", "lage", "subject")], list(loss = "poisson"), poisson,
  y ~ trt + s(lbase, bs = "cr", k = 6) + s(lage, bs = "cr", k = 6) + s(subject, bs = "re"))
smooth("births", low ~ smoke + s(age, bs = "cr", k = 8) + s(lwt, bs = "cr", k = 8), birthwt[, c("low", "smoke", "age", "lwt")], list(loss = "binomial"), binomial)
pima <- transform(Pima.tr, y = as.numeric(type == "Yes"))[, c("y", "glu", "bmi", "age")]
smooth("pima", y ~ s(glu, bs = "cr") + s(bmi, bs = "cr") + s(age, bs = "cr"), pima, list(loss = "binomial", link = "probit"), binomial("probit"))
gullets <- transform(esoph, share = ncases / (ncases + ncontrols), w = ncases + ncontrols, age = as.numeric(agegp), alcohol = as.numeric(alcgp))[, c("share", "w", "age", "alcohol")]
smooth("esoph", share ~ s(age, bs = "cr", k = 5) + s(alcohol, bs = "cr", k = 4), gullets, list(loss = "binomial", link = "cloglog", weights = "precision"), binomial("cloglog"))
smooth("quine", Days ~ Sex + Lrn + (1 | Age) + (1 | Eth), transform(quine, Sex = as.character(Sex), Lrn = as.character(Lrn), Age = as.character(Age), Eth = as.character(Eth)),
  list(loss = "negative_binomial", shape = 2), negbin(2), Days ~ Sex + Lrn + s(Age, bs = "re") + s(Eth, bs = "re"))
air <- keep(airquality, "Ozone", "Wind", "Temp")
smooth("ozone", Ozone ~ s(Wind, bs = "cr") + s(Temp, bs = "cr"), air, list(loss = "gamma"), Gamma("log"))
smooth("ozone_sqrt", Ozone ~ s(Wind, bs = "cr", k = 6) + s(Temp, bs = "cr", k = 6), air, list(loss = "gaussian", link = "log"), gaussian("log"))
smooth("looms", breaks ~ wool + (1 | tension), transform(warpbreaks, wool = as.character(wool), tension = as.character(tension)), list(loss = "gamma"), Gamma("log"), breaks ~ wool + s(tension, bs = "re"))
chicks <- transform(as.data.frame(ChickWeight), Chick = as.character(Chick))[1:200, c("weight", "Time", "Chick")]
smooth("chicks", weight ~ s(Time, bs = "cr", k = 6) + (1 | Chick), chicks, list(loss = "gamma"), Gamma("log"), weight ~ s(Time, bs = "cr", k = 6) + s(Chick, bs = "re"))
smooth("stations", stations ~ te(long, lat, k = 4) + s(mag, bs = "cr", k = 5), quakes[1:200, c("stations", "long", "lat", "mag")], list(loss = "poisson"), poisson)
smooth("trees", Volume ~ s(Girth, bs = "cr", k = 5) + s(Height, bs = "cr", k = 5), trees, list(loss = "inverse_gaussian", link = "log"), inverse.gaussian("log"))
cat("\n]\n")
