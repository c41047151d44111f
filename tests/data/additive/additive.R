# Additive models by mgcv and lme4; run from the root of the repository:
#     Rscript tests/data/additive/additive.R > tests/data/additive/additive.json
suppressMessages({library(mgcv); library(lme4); library(nlme); library(MASS)})
options(warn = -1, contrasts = c("contr.treatment", "contr.poly"))
number <- function(x) ifelse(is.finite(x), sprintf("%.15g", x), "null")
quoted <- function(x) paste0('"', gsub('"', "'", x), '"')
list_of <- function(x) paste0("[", paste(if (is.numeric(x)) number(x) else quoted(as.character(x)), collapse = ","), "]")
object <- function(x) paste0("{", paste(paste0(quoted(names(x)), ":", unlist(x)), collapse = ",\n "), "}")
first <- TRUE
say <- function(case, formula, data, weights, figures) {
  columns <- lapply(data, function(x) list_of(if (is.logical(x)) as.numeric(x) else if (is.numeric(x)) as.numeric(x) else as.character(x)))
  cat(if (first) "[\n" else ",\n", object(c(list(case = quoted(case), formula = quoted(formula), weights = if (is.null(weights)) "null" else quoted(weights), data = object(columns)), figures)), sep = "")
  first <<- FALSE
}
at <- function(n) unique(round(seq(1, n, length.out = 7)))
keep <- function(data, ...) na.omit(as.data.frame(data)[, c(...)])
# lme4: `formula` is read by both
mixed <- function(case, formula, data, method = "reml", weights = NULL) {
  control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-11, maxfun = 1e5), check.conv.singular = "ignore")
  w <- if (is.null(weights)) NULL else data[[weights]]
  environment(formula) <- environment()
  fit <- lmer(formula, data, REML = method == "reml", control = control, weights = w)
  for (again in 1:2) fit <- update(fit, start = getME(fit, "theta"))
  table <- as.data.frame(VarCorr(fit)); random <- table[table$grp != "Residual", ]
  blups <- ranef(fit, condVar = TRUE); one <- blups[[1]]
  say(case, deparse1(formula), data, weights, list(method = quoted(method), by = quoted("lme4"),
    score = number(-as.numeric(logLik(fit))), sigma = number(sigma(fit)),
    coef = list_of(fixef(fit)), error = list_of(sqrt(diag(as.matrix(vcov(fit))))),
    group = list_of(random$grp), name = list_of(random$var1), name2 = list_of(ifelse(is.na(random$var2), "", random$var2)),
    sd = list_of(random$sdcor), grouping = quoted(names(blups)[1]), level = list_of(rownames(one)), effect = list_of(one[[1]]),
    row = list_of(at(nrow(data)) - 1), fitted = list_of(fitted(fit)[at(nrow(data))])))
}
# mgcv; random effects of `formula` are s(g, bs = "re") for mgcv, as `theirs` has them
smooth <- function(case, formula, data, method = "reml", theirs = formula, weights = NULL, knots = NULL, select = FALSE) {
  w <- if (is.null(weights)) NULL else data[[weights]]
  environment(theirs) <- environment()
  data <- as.data.frame(lapply(data, function(x) if (is.character(x)) factor(x) else x))
  how <- c(reml = "REML", ml = "ML", gcv = "GCV.Cp")[[method]]
  control <- gam.control(epsilon = 1e-12, newton = list(conv.tol = 1e-12), mgcv.tol = 1e-13)
  fit <- gam(theirs, data = data, method = how, weights = w, control = control, select = select)
  shown <- summary(fit, re.test = FALSE); tests <- summary(fit)$s.table
  rows <- at(nrow(data)); band <- predict(fit, se.fit = TRUE)
  say(case, deparse1(formula), data, weights, list(method = quoted(method), by = quoted("mgcv"), select = if (select) "true" else "false",
    score = number(as.numeric(fit$gcv.ubre)), sigma = number(sqrt(fit$sig2)),
    coef = list_of(shown$p.coeff), error = list_of(shown$se[seq_along(shown$p.coeff)]),
    smooth = list_of(rownames(tests)), edf = list_of(tests[, 1]), reference = list_of(tests[, 2]),
    statistic = list_of(tests[, 3]), p_value = list_of(tests[, 4]), total = number(sum(fit$edf)),
    row = list_of(rows - 1), fitted = list_of(as.numeric(fitted(fit))[rows]), fitted_error = list_of(as.numeric(band$se.fit)[rows])))
}
mixed("sleepstudy", Reaction ~ Days + (1 + Days | Subject), sleepstudy)
mixed("sleepstudy_ml", Reaction ~ Days + (1 + Days | Subject), sleepstudy, "ml")
mixed("sleepstudy_apart", Reaction ~ Days + (1 | Subject) + (0 + Days | Subject), sleepstudy)
mixed("dyestuff", Yield ~ 1 + (1 | Batch), Dyestuff)
mixed("dyestuff2", Yield ~ 1 + (1 | Batch), Dyestuff2)
mixed("penicillin", diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin)
mixed("pastes", strength ~ 1 + (1 | sample) + (1 | batch), Pastes[, c("strength", "batch", "sample")])
mixed("cake", angle ~ recipe + temp + (1 | batch), transform(cake[, c("angle", "recipe", "temp")], recipe = as.character(recipe), batch = paste0(cake$recipe, cake$replicate)))
machines <- transform(as.data.frame(Machines), Worker = as.character(Worker), both = paste0(Machine, Worker))
mixed("machines", score ~ Machine + (1 | both) + (1 | Worker), machines)
mixed("machines_slopes", score ~ Machine + (1 + B + C | Worker), transform(machines, B = as.numeric(Machine == "B"), C = as.numeric(Machine == "C")))
mixed("rail", travel ~ 1 + (1 | Rail), as.data.frame(Rail))
mixed("orthodont", distance ~ age + Sex + (1 + age | Subject), transform(keep(Orthodont, "distance", "age", "Sex", "Subject"), Sex = as.character(Sex)))
mixed("oxboys", height ~ age + (1 + age | Subject), keep(Oxboys, "height", "age", "Subject"))
mixed("ergo_stool", effort ~ Type + (1 | Subject), as.data.frame(ergoStool))
mixed("oats", yield ~ nitro + (1 | plot) + (1 | Block), transform(as.data.frame(Oats), plot = paste0(Block, Variety), Variety = NULL))
set.seed(1)
some <- InstEval[InstEval$d %in% sample(levels(InstEval$d), 40) , c("y", "s", "d", "dept", "service")][1:700, ]
mixed("lectures", y ~ service + (1 | s) + (1 | d) + (1 | dept), transform(droplevels(some), s = as.character(s), d = as.character(d), dept = as.character(dept)))
mixed("sleepstudy_weights", Reaction ~ Days + (1 | Subject), transform(sleepstudy, w = rep(1:3, 60)), weights = "w")
smooth("mcycle", accel ~ s(times, bs = "cr", k = 20), mcycle)
smooth("mcycle_ml", accel ~ s(times, bs = "cr", k = 20), mcycle, "ml")
smooth("mcycle_gcv", accel ~ s(times, bs = "cr", k = 20), mcycle, "gcv")
smooth("mcycle_thin", accel ~ s(times, bs = "tp"), mcycle)
smooth("mcycle_p", accel ~ s(times, bs = "ps", k = 15), mcycle)
air <- keep(airquality, "Ozone", "Solar.R", "Wind", "Temp"); names(air)[2] <- "Sun"
smooth("ozone", Ozone ~ s(Sun, bs = "cr") + s(Wind, bs = "cr") + s(Temp, bs = "cr"), air)
smooth("ozone_gcv", Ozone ~ s(Sun, bs = "cr") + s(Wind, bs = "cr") + s(Temp, bs = "cr"), air, "gcv")
smooth("ozone_select", Ozone ~ s(Sun, bs = "cr") + s(Wind, bs = "cr") + s(Temp, bs = "cr"), air, select = TRUE)
smooth("ozone_surface", Ozone ~ te(Wind, Temp) + s(Sun, bs = "cr", k = 5), air)
smooth("quakes", mag ~ te(long, lat, k = c(5, 6)) + s(depth, bs = "cr"), quakes[1:400, c("mag", "long", "lat", "depth")])
carbon <- data.frame(co2 = as.numeric(co2), month = as.numeric(cycle(co2)), year = as.numeric(time(co2)))[1:300, ]
smooth("co2", co2 ~ s(month, bs = "cc", k = 12) + s(year, bs = "cr", k = 30), carbon)
smooth("faithful", waiting ~ s(eruptions, bs = "cr", k = 12), faithful)
smooth("trees", Volume ~ s(Girth, bs = "cr", k = 6) + s(Height, bs = "cr", k = 6), trees)
smooth("mtcars", mpg ~ am + s(wt, bs = "cr", k = 5) + s(hp, bs = "cr", k = 5), mtcars[, c("mpg", "am", "wt", "hp")])
plants <- transform(as.data.frame(CO2), Plant = as.character(Plant), Type = as.character(Type), Treatment = as.character(Treatment))
smooth("plants", uptake ~ Type + s(conc, by = Type, bs = "cr", k = 5) + (1 | Plant), plants, theirs = uptake ~ Type + s(conc, by = Type, bs = "cr", k = 5) + s(Plant, bs = "re"))
smooth("cars", dist ~ s(speed, bs = "cr"), cars)
smooth("cars_weights", dist ~ s(speed, bs = "cr"), transform(cars, w = rep(1:2, 25)), weights = "w")
smooth("boston", medv ~ chas + s(lstat, bs = "cr") + s(rm, bs = "cr"), Boston[1:250, c("medv", "chas", "lstat", "rm")])
smooth("varying", accel ~ s(times, bs = "cr", k = 10) + s(times, by = z, bs = "cr", k = 5), transform(mcycle, z = round(sin(seq_along(times)), 3)))
smooth("days", Reaction ~ s(Days, bs = "cr", k = 6) + (1 | Subject), sleepstudy, theirs = Reaction ~ s(Days, bs = "cr", k = 6) + s(Subject, bs = "re"))
cat("\n]\n")
