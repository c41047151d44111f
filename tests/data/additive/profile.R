# Profile intervals of components of variance; run from the root of the repository:
#     Rscript tests/data/additive/profile.R > tests/data/additive/profile.json
# With names of cases as arguments these alone.
# `found` are the ends by the deviance of lme4's devfun, minimised by nlminb and solved by uniroot: lme4's own confint
# interpolates between such points, to about three digits. `lme4` are those of confint(method = "profile"), of "ml" alone.
suppressMessages({library(lme4); library(nlme)})
options(warn = -1, contrasts = c("contr.treatment", "contr.poly"))
number <- function(x) ifelse(is.finite(x), sprintf("%.12g", x), "null")
list_of <- function(x) paste0("[", paste(number(x), collapse = ","), "]")
first <- TRUE
reach <- qnorm(0.975)
asked <- function(case) !length(commandArgs(TRUE)) || case %in% commandArgs(TRUE)
# minimum over the free parameters, begun where `start` is
least <- function(f, start) {
  best <- list(par = start, objective = f(start))
  if (length(start)) for (again in 1:2) {
    one <- nlminb(best$par, f, control = list(rel.tol = 1e-15, x.tol = 1e-12, eval.max = 5000, iter.max = 5000))
    if (one$objective < best$objective) best <- one
  }
  best
}
# `sizes` : effects of each grouping, 1 or 2. Parameters: log sd, log sd and atanh of the correlation, ..., log sigma
ratios <- function(p, sizes) {
  out <- c(); at <- 0; sigma <- exp(p[length(p)])
  for (q in sizes) {
    sd <- exp(p[at + seq_len(q)]) / sigma
    r <- if (q == 2) tanh(p[at + 3]) else 0
    out <- c(out, if (q == 1) sd else c(sd[1], r * sd[2], sqrt(max(1 - r^2, 0)) * sd[2]))
    at <- at + q * (q + 1) / 2
  }
  out
}
# ends of every parameter of a criterion; `scale` is "sd" or "cor" of each
ends <- function(criterion, start, kind) {
  whole <- least(criterion, start)
  out <- list()
  for (k in seq_along(kind)) {
    last <- whole$par
    held <- function(t) {
      f <- function(free) { p <- whole$par; p[-k] <- free; p[k] <- t; criterion(p) }
      found <- least(f, last[-k]); other <- least(f, start[-k])
      if (other$objective < found$objective) found <- other
      last[-k] <<- found$par
      found$objective
    }
    root <- function(t) sqrt(max(2 * (held(t) - whole$objective), 0)) - reach
    edges <- if (kind[k] == "cor") c(-18, 18) else c(min(whole$par[k], start[k]) - 20, start[k] + 8)
    back <- if (kind[k] == "cor") tanh else exp
    one <- c(if (kind[k] == "cor") -1 else 0, if (kind[k] == "cor") 1 else Inf)
    for (side in 1:2) {
      t <- whole$par[k]; last <- whole$par
      if (root(edges[side]) > 0) {
        last <- whole$par
        if (side == 2 && kind[k] == "sd") t <- max(t, start[k] - 2)  # from a variance that is zero
        steps <- seq(0, abs(edges[side] - t), by = 0.5) * c(-1, 1)[side] + t
        for (i in 2:length(steps)) if (root(steps[i]) > 0) break
        one[side] <- back(uniroot(root, sort(steps[c(i - 1, i)]), tol = 1e-12)$root)
      }
    }
    out[[k]] <- one
  }
  do.call(rbind, out)
}
say <- function(case, formula, method, found, theirs) {
  cat(if (first) "[\n" else ",\n", sprintf('{"case":"%s","formula":"%s","method":"%s","found":%s,"lme4":%s}', case, deparse1(formula), method,
    paste0("[", paste(apply(found, 1, list_of), collapse = ","), "]"), if (is.null(theirs)) "null" else paste0("[", paste(apply(theirs, 1, list_of), collapse = ","), "]")), sep = "")
  first <<- FALSE
}
mixed <- function(case, formula, data, sizes, methods = c("ml", "reml"), compare = TRUE) for (method in methods) if (asked(case)) {
  parts <- lFormula(formula, data, REML = method == "reml", control = lmerControl(check.conv.singular = "ignore"))
  f <- do.call(mkLmerDevfun, c(parts, list(control = lmerControl())))
  own <- environment(f)
  m <- nrow(parts$fr) - if (method == "reml") ncol(parts$X) else 0
  criterion <- function(p) {
    theta <- ratios(p, sizes)
    if (!all(is.finite(theta))) return(1e10)
    if (inherits(try(f(theta), silent = TRUE), "try-error")) return(1e10)
    logs <- own$pp$ldL2() + if (method == "reml") own$pp$ldRX2() else 0
    phi <- exp(2 * p[length(p)])
    0.5 * (logs + m * log(2 * pi * phi) + (own$resp$wrss() + own$pp$sqrL(1)) / phi)
  }
  kind <- c(unlist(lapply(sizes, function(q) if (q == 1) "sd" else c("sd", "sd", "cor"))), "sd")
  fit <- lmer(formula, data, REML = method == "reml", control = lmerControl(check.conv.singular = "ignore"))
  table <- as.data.frame(VarCorr(fit))$sdcor
  start <- ifelse(kind == "cor", atanh(pmin(pmax(table, -0.98), 0.98)), log(pmax(table, sigma(fit) / 50)))
  # lme4 has the correlation before the second sd
  theirs <- if (method == "ml" && compare) { ci <- suppressMessages(confint(fit, parm = "theta_", oldNames = FALSE, quiet = TRUE)); if (any(sizes == 2)) ci[c(1, 3, 2, 4), ] else ci } else NULL
  say(case, formula, method, ends(criterion, start, kind), theirs)
}
general <- function(case, formula, data, family) if (asked(case)) {
  w <- if ("w" %in% names(data)) data$w else rep(1, nrow(data)); environment(formula) <- environment()
  control <- glmerControl(tolPwrss = 1e-13, check.conv.singular = "ignore")
  fit <- glmer(formula, data, family = family, weights = w, control = control)
  parts <- glFormula(formula, data, family = family, weights = w, control = control)
  f <- do.call(mkGlmerDevfun, c(parts, list(control = control)))
  f <- updateGlmerDevfun(f, parts$reTrms)
  n <- length(getME(fit, "theta"))
  criterion <- function(p) { value <- tryCatch(0.5 * f(c(exp(p[1:n]), p[-(1:n)])), error = function(e) 1e10); if (is.finite(value)) value else 1e10 }
  kind <- c(rep("sd", n), rep("beta", length(fixef(fit))))
  start <- c(log(pmax(getME(fit, "theta"), 0.05)), fixef(fit))
  keep <- ends(criterion, start, kind[seq_len(n)])
  say(case, formula, "ml", keep, NULL)
}
mixed("sleepstudy", Reaction ~ Days + (1 + Days | Subject), sleepstudy, 2)
mixed("sleepstudy_apart", Reaction ~ Days + (1 | Subject) + (0 + Days | Subject), sleepstudy, c(1, 1), compare = FALSE)
mixed("dyestuff", Yield ~ 1 + (1 | Batch), Dyestuff, 1)
mixed("dyestuff2", Yield ~ 1 + (1 | Batch), Dyestuff2, 1)
mixed("orthodont", distance ~ age + Sex + (1 + age | Subject), as.data.frame(Orthodont), 2, "ml", compare = FALSE)
herds <- transform(cbpp, share = incidence / size, w = size)
general("cbpp", share ~ period + (1 | herd), herds, binomial)
ill <- transform(MASS::bacteria, y = as.numeric(y == "y"))
general("bacteria", y ~ trt + week + (1 | ID), ill, binomial)
cat("\n]\n")
