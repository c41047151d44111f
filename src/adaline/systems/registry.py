"""The systems by their names; their modules are imported when they are taken."""

from __future__ import annotations

from adaline.errors import InvalidParameter
from adaline.lazy import Registry

PACKAGE = "adaline.systems"

SYSTEMS = Registry(
    PACKAGE,
    "LinearRegression Ridge ElasticNet RobustRegression InstrumentalVariables AdditiveModel WienerFilter "
    "AdaptiveFilter GeneralizedLinear LeastSquaresClassifier FisherDiscriminant GaussianClassifier LogisticRegression "
    "OrdinalRegression LMS Adaline Perceptron Pocket KeslerPerceptron SigmoidPerceptron OnlineLogistic "
    "OneVsRest OneVsOne",
)
UNSUPERVISED = Registry(PACKAGE, "KMeans GaussianMixture")
CUSTOM = Registry(PACKAGE, "CustomMachine")


def system_name(named: str) -> str:
    """Return the name of a system as the registry has it, whatever its case."""
    if not isinstance(named, str):
        raise InvalidParameter(f"systems are given by name, as 'Ridge', got {named!r}")
    names = {name.lower(): name for name in SYSTEMS}
    if named.lower() in names:
        return names[named.lower()]
    for name in UNSUPERVISED:
        if named.lower() == name.lower():
            raise InvalidParameter(f"{name} learns without a target, from Python alone: adaline.{name}().fit(X)")
    for name in CUSTOM:
        if named.lower() == name.lower():
            raise InvalidParameter(f"{name} takes Python code, and is for Python alone: adaline.{name}(...).fit(X, y)")
    from difflib import get_close_matches

    from adaline import peers

    meant = ""
    if elsewhere := peers.our_system(named):
        meant = f" It is {elsewhere} here."
    else:
        begins = {name[: len(named)]: name for name in reversed(names)}
        near = [name for name in names if named and name.startswith(named.lower())]
        near = near or get_close_matches(named.lower(), [*names, *begins], n=1, cutoff=peers.LEAST_SIMILARITY)
        meant = f" Did you mean {' or '.join(names[begins.get(name, name)] for name in near)}?" if near else ""
    raise InvalidParameter(f"there is no system {named!r}.{meant} There are: {', '.join(SYSTEMS)}")
