"""Names of parameters and systems in other packages, and what they are called here, for messages about unknown ones.

The packages are scikit-learn, statsmodels, R, glmnet, Keras, river and padasip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from adaline.parameters import POSITIVE

LEAST_SIMILARITY = 0.7  # similarity from which a name is suggested; at 0.6 random_state suggests warm_start
LIMITS = ("max_iter", "maxiter", "maxit", "n_iter", "iter_max", "max_epochs", "n_epochs", "nepochs", "epochs")

OUR_NAMES: dict[str, tuple[str, ...]] = {
    # how much is penalised
    "alpha": ("penalty",),
    "lambda": ("penalty", "forgetting"),
    "lambda_": ("penalty", "forgetting"),
    "lam": ("penalty", "forgetting"),
    "lmbda": ("penalty", "forgetting"),
    "l2": ("penalty",),
    "reg_lambda": ("penalty",),
    "weight_decay": ("penalty", "leak"),
    "ridge": ("penalty",),
    "reg_alpha": ("l1",),
    "l1_penalty": ("l1",),
    "l1_ratio": ("mix",),
    "n_alphas": ("points",),
    "nlambda": ("points",),
    "eps": ("ratio",),
    "reg_param": ("shrinkage",),
    "leakage": ("leak",),
    # how far and how long to go
    "learning_rate": ("rate",),
    "learning_rate_init": ("rate",),
    "eta": ("rate",),
    "eta0": ("rate",),
    "lr": ("rate",),
    "mu": ("rate", "forgetting"),
    "step_size": ("rate",),
    "lr_schedule": ("schedule",),
    "power_t": ("schedule",),
    **dict.fromkeys(LIMITS, ("epochs", "max_iter")),
    "tolerance": ("tol",),
    "thresh": ("tol",),
    "n_starts": ("n_init",),
    "nstart": ("n_init",),
    # the model
    "intercept": ("fit_intercept",),
    "add_constant": ("fit_intercept",),
    "has_constant": ("fit_intercept",),
    "hasconst": ("fit_intercept",),
    "bias": ("fit_intercept",),
    "use_bias": ("fit_intercept",),
    "intercept_init": ("init",),
    "coef_init": ("init",),
    "start_params": ("init",),
    "normalize": ("standardize",),
    "scaling": ("standardize",),
    "family": ("loss",),
    "distribution": ("loss",),
    "M": ("loss",),
    "psi": ("loss",),
    "link": ("activation",),
    "scale": ("dispersion",),
    "method": ("solver",),
    "optimizer": ("solver",),
    "algorithm": ("solver", "rule"),
    "rule": ("mode",),
    "multi_class": ("scheme",),
    "epsilon": ("threshold", "eps"),
    "delta": ("threshold", "regularization"),
    "q": ("quantile",),
    "tau": ("quantile",),
    "scale_est": ("scale",),
    "gcv_mode": ("criterion",),
    "cv": ("folds",),
    "n_folds": ("folds",),
    # classes, clusters and filters
    "class_weights": ("class_weight",),
    "prior": ("priors",),
    "n_components": ("components", "n_clusters"),
    "components": ("n_components",),
    "covariance_type": ("covariance",),
    "covariance": ("covariance_type",),
    "k": ("n_clusters", "n_components"),
    "n_centers": ("centres", "n_clusters"),
    "centers": ("centres", "init"),
    "n_clusters": ("n_components",),
    "estimator": ("system",),
    "base_estimator": ("system",),
    "n": ("taps",),
    "n_taps": ("taps",),
    "numtaps": ("taps",),
    "order": ("taps", "degree"),
    "filter_length": ("taps",),
    "ff": ("forgetting",),
    "forgetting_factor": ("forgetting",),
    # bases
    "n_harmonics": ("terms",),
    "sigma": ("width",),
    # random numbers
    "seed": ("random_state",),
    "rng": ("random_state",),
}
"""For each name elsewhere, the names here that may be meant; the message says the first that the system has."""

EXACT = "is not needed here: the solver is chosen by the shape of the data"
STEPS = ("learning_rate", "learning_rate_init", "eta", "eta0", "lr", "step_size", "rate")
NO_STEPS = "is for systems that learn step by step, such as LMS and Perceptron"
OWN_STEPS = "is not needed here: every column has a step size of its own, in its units"
DETERMINISTIC = "is not needed here: the fit is deterministic and gives the same result in every run"
BY_SELECTION = "is for adaline.select, which chooses parameters by cross-validation"
HELD_OUT = "is not available: adaline.learning_curve shows the error on rows left out"
ALL_LINEAR = "is not available: all systems are linear; basis= gives them curves"
NO_GRID = "is penalty='auto' of Ridge and LogisticRegression, which needs no grid; adaline.select tries other values"
IN_FIT = "is given to fit: fit(X, y)"
WEIGHTS_IN_FIT = "{verb} given to fit: fit(X, y, sample_weight=...)"
NOTES: dict[str, str] = {
    **dict.fromkeys(LIMITS, "is not needed here: the solver runs until it has converged, and certificate_ shows how"),
    **dict.fromkeys(("solver", "method", "algorithm", "optimizer", "dual", "precompute", "selection"), EXACT),
    **dict.fromkeys(("max_fun", "solver_options"), EXACT),
    **dict.fromkeys(("tol", "tolerance", "thresh"), "is not needed here: the solution is computed directly"),
    **dict.fromkeys(("init", "n_init"), "is not needed here: the solution does not depend on where the solver starts"),
    **dict.fromkeys(STEPS, NO_STEPS),
    **dict.fromkeys(("schedule", "lr_schedule", "power_t", "average"), NO_STEPS),
    **dict.fromkeys(("random_state", "seed", "rng"), DETERMINISTIC),
    **dict.fromkeys(("cv", "n_folds", "folds", "scoring", "refit"), BY_SELECTION),
    **dict.fromkeys(("early_stopping", "validation_fraction", "n_iter_no_change"), HELD_OUT),
    **dict.fromkeys(("kernel", "gamma", "hidden_layer_sizes", "max_depth", "n_estimators"), ALL_LINEAR),
    **dict.fromkeys(("verbose", "disp", "trace"), "is not needed here: certificate_ and history_ show the progress"),
    **dict.fromkeys(("copy_X", "copy_x", "copy"), "is not needed here: rows are never changed"),
    **dict.fromkeys(("cov_type", "cov_kwds", "use_t"), "is chosen after the fit: summary(errors='HC3')"),
    **dict.fromkeys(("X", "y", "data"), IN_FIT),
    **dict.fromkeys(("sample_weight",), WEIGHTS_IN_FIT.format(verb="is")),
    **dict.fromkeys(("weights", "freq_weights"), WEIGHTS_IN_FIT.format(verb="are")),
    "C": "is 1/penalty elsewhere; this system has no penalty",
    "penalty": "is a parameter of Ridge, LogisticRegression and ElasticNet; this system has no penalty",
    "alpha": "is the penalty of Ridge, LogisticRegression and GeneralizedLinear; this system has no penalty",
    **dict.fromkeys(("alphas", "Cs"), NO_GRID),
    "l1_ratio": "is a parameter of ElasticNet, where it is called mix",
    "n_alphas": "is a parameter of ElasticNet, where it is called points",
    "intercept_scaling": "is not needed here: the intercept is never penalised",
    **dict.fromkeys(("fit_intercept", "hasconst", "intercept"), "is not available here: an intercept is always fitted"),
    "class_weight": "is not available here: weight the rows, fit(X, y, sample_weight=...)",
    "multi_class": "is not needed here: classifiers take any number of classes, and OneVsRest wraps those for two",
    "normalize": "is not available here: standardise the columns before the fit",
    "scaling": "is not available here: standardise the columns before the fit",
    "standardize": "is not available here: standardise the columns before the fit",
    "warm_start": "is not available here: every fit begins with the rows alone",
    "shuffle": "is not available here: rows are taken in their order where it matters",
    "loss": "is a parameter of GeneralizedLinear, RobustRegression and ElasticNet",
    "family": "is a parameter of GeneralizedLinear, where it is called loss",
    "link": "is a parameter of GeneralizedLinear and OrdinalRegression",
    "power": "is a parameter of a family: GeneralizedLinear(loss=adaline.losses.Tweedie(power=1.5))",
    "quantile": "is a parameter of RobustRegression: RobustRegression(loss='quantile', quantile=0.5)",
    "priors": "is a parameter of GaussianClassifier",
    "shrinkage": "is a parameter of GaussianClassifier",
    "degree": "is a parameter of a basis: basis=adaline.basis.Polynomial(degree=2)",
    "n_jobs": "is set once for all systems: adaline.set_threads(n), or ADALINE_THREADS",
    "positive": "is a parameter of ElasticNet: ElasticNet({loss}positive=True)",
    "groups": "is a parameter of ElasticNet: ElasticNet({loss}groups=...)",
    "momentum": "is not available here",
    "batch_size": "is not available: a step is for one row, or for all of them",
    "probability": "is not needed here: predict_proba is there wherever a system has probabilities",
    "store_covariance": "is not needed here: covariance_ is always kept",
    "store_cv_results": "is not needed here: path_ is always kept",
    "include_bias": "belongs to the system here: fit_intercept=True",
    "var_weights": "are given to fit: GeneralizedLinear(..., weights='precision').fit(X, y, sample_weight=...)",
    "offset": "is given to fit: GeneralizedLinear(...).fit(X, y, offset=...)",
    "exposure": "is given to fit: GeneralizedLinear(...).fit(X, y, exposure=...)",
    "formula": "is given with the table: open_table(data, formula=...)",
    "missing": "is chosen with the table: open_table(data, target=..., missing='drop')",
    "endog": "is the y of fit(X, y)",
    "exog": "is the X of fit(X, y)",
}
"""For each name elsewhere without a counterpart here, the rest of the sentence that begins with the name."""

EPOCHS_FOR = {"LogisticRegression": "OnlineLogistic", "LinearRegression": "solver='gradient'"}
"""Systems that run until they have converged, and what has a number of passes instead."""

OF_MEANS = ("LogisticRegression", "OnlineLogistic", "GeneralizedLinear")
"""Systems whose counterparts elsewhere penalise the mean loss of the rows."""

OF_MACHINES = (
    "solver",
    "tol",
    "penalty",
    "rate",
    "fit_intercept",
    "class_weight",
    "random_state",
    "loss",
    "C",
    "alpha",
)
"""Parameters that a system made of machines lacks, since its machines have them."""

PATH_NOTES: dict[str, str] = {
    **dict.fromkeys(
        ("alpha", "lambda", "lambda_", "lam", "lmbda"),
        "is for the mean of the rows elsewhere, and l1 for their sum: l1 = {name} * rows, or with l1_ratio: "
        "l1 = {name} * l1_ratio * rows, mix = l1_ratio",
    ),
    **dict.fromkeys(("alphas", "Cs"), "is l1='auto' here, which makes a path of its own, by points and ratio"),
}
"""The same for systems that have `mix`, where penalties make a path."""


OWN_NOTES: dict[tuple[str, str], str] = {
    **{("OnlineLogistic", name): f"{name} {OWN_STEPS}" for name in STEPS},
    ("OnlineLogistic", "tol"): "tol is not available here: fit takes as many passes as epochs says",
    ("GeneralizedLinear", "machine"): "machine= is now the system CustomMachine(machine, loss=...)",
    (
        "CustomMachine",
        "fit_intercept",
    ): "fit_intercept is not available here: a constant is a weight of the machine",
}
"""For a system and a name that is no parameter of it, the sentence that says why."""

OUR_SYSTEMS: dict[str, tuple[str, ...]] = {
    "InstrumentalVariables": ("ivreg", "ivsls", "ivliml", "ivregress", "tsls", "sls", "liml"),
    "LinearRegression": ("lm", "ols", "wls", "lstsq", "leastsquares", "linear", "linreg"),
    "Ridge": ("ridgecv", "bayesianridge", "ridgeregression"),
    "ElasticNet": ("lasso", "lassocv", "lassolars", "elasticnetcv", "glmnet"),
    "AdditiveModel": ("gam", "gamm", "bam", "mgcv", "lmer", "lme", "glmer", "glmm", "mixedlm", "mixed", "mixedmodel"),
    "LogisticRegression": ("logit", "logistic", "logisticregressioncv", "softmax", "multinom", "mnlogit"),
    "OnlineLogistic": ("sgdclassifier", "vw"),
    "LMS": ("sgd", "sgdregressor", "widrowhoff"),
    "GeneralizedLinear": ("glm", "gamma", "tweedieregressor", "gammaregressor", "negativebinomial"),
    "GeneralizedLinear(loss='poisson')": ("poisson", "poissonregressor"),
    "OrdinalRegression": ("polr", "orderedmodel"),
    "RobustRegression": ("huber", "huberregressor", "rlm", "ransacregressor", "theilsenregressor"),
    "RobustRegression(loss='quantile')": ("quantile", "quantileregressor", "quantreg", "rq"),
    "GaussianClassifier": ("lda", "lineardiscriminantanalysis"),
    "GaussianClassifier(covariance='full')": ("qda", "quadraticdiscriminantanalysis"),
    "GaussianClassifier(covariance='diag')": ("gaussiannb", "naivebayes"),
    "AdaptiveFilter": ("rls", "nlms", "filterlms", "filterrls"),
}
"""Systems, and what they are called elsewhere: lower case, letters alone."""


def our_system(name: str) -> str:
    """Return what a system of another package is called here; "" where it is not known.

    Examples
    --------
    >>> from adaline.peers import our_system
    >>> our_system("Lasso"), our_system("naive_bayes"), our_system("RandomForest")
    ('ElasticNet', "GaussianClassifier(covariance='diag')", '')
    """
    plain = "".join(filter(str.isalpha, name.lower()))
    return next((ours for ours, names in OUR_SYSTEMS.items() if plain in names), "")


def say_unnamed(owner: str, names: Sequence[str], given: Sequence[Any]) -> str:
    """Return the message for a call with unnamed values: how to write it with the names of the parameters."""
    if any(isinstance(value, list | tuple | dict) or hasattr(value, "shape") for value in given):
        return f"{owner} takes its parameters by name, and rows are given to fit: {owner}().fit(X, y)"
    written = ", ".join(f"{name}={value!r}" for name, value in zip(names, given, strict=False))
    return f"{owner} takes its parameters by name: {owner}({written})"


def unknown(owner: str, names: Iterable[str], given: Mapping[str, Any]) -> str:
    """Return the message for parameters, with their values, that are not among the names of a system's own."""
    known = list(names)
    hints = {name: _translated(owner, name, value, known) for name, value in given.items()}
    unexplained = [name for name, hint in hints.items() if not hint]
    text = f"{owner} has no parameter {' and no '.join(map(repr, given))}"
    if len(unexplained) < len(hints):
        text += ": " + "; ".join(filter(None, hints.values()))
    if unexplained:
        near = [get_close_matches(name, known, n=1, cutoff=LEAST_SIMILARITY) for name in unexplained]
        meant = "".join(f" Did you mean {one[0]}?" for one in near if one)
        text += f".{meant} There are: {', '.join(known) or 'none'}"
    return text


def _translated(owner: str, name: str, value: Any, known: list[str]) -> str:
    """Return what a name elsewhere is called here, or why there is no such parameter; "" where it is not known."""
    if (owner, name) in OWN_NOTES:
        return OWN_NOTES[owner, name]
    path = "mix" in known
    strength = "l1" if path else "penalty"
    if name == "C" and strength in known:
        return f"C is 1/{strength} here" + (f": {strength}={1 / float(value)!r}" if POSITIVE.accepts(value) else "")
    if path and name in PATH_NOTES:
        return f"{name} {PATH_NOTES[name].format(name=name)}"
    if name == "l1_ratio" and {"penalty", "l1"} <= {*known} and not path:
        return "l1_ratio is two parameters here: penalty=(1 - l1_ratio)/C and l1=l1_ratio/C"
    if name == "alpha" and "penalty" in known and owner in OF_MEANS:
        return "alpha is for the mean over rows elsewhere, and penalty for their sum: penalty = alpha * rows"
    if name == "learning_rate" and isinstance(value, str) and "schedule" in known:
        return f"learning_rate={value!r} is a schedule here, one of constant, 1/t and power, and eta0 is called rate"
    if name in LIMITS and owner in EPOCHS_FOR:
        return f"{name} {NOTES[name]}; epochs is for {EPOCHS_FOR[owner]}"
    if "system" in known and name in OF_MACHINES:
        return f"{name} is a parameter of the machines: {owner}(system=LogisticRegression(...))"
    ours = next((one for one in OUR_NAMES.get(name, ()) if one in known), None)
    if ours is not None:
        return f"{name} is called {ours} here"
    loss = "loss='logistic', " if owner == "LogisticRegression" else ""
    return f"{name} {NOTES[name].format(loss=loss)}" if name in NOTES else ""
