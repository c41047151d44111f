"""The front door: public names, their documentation, what importing costs, and life without the native core."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adaline
from adaline.basis import BASES
from adaline.systems import CUSTOM, SYSTEMS, UNSUPERVISED
from tests.lowest import PYPROJECT, requirements
from tests.test_house import SOURCES, text
from tests.turns import in_turn

SOURCE = Path(adaline.__file__).parent


def run(code: str) -> str:
    """Run code in an interpreter of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE.parent), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@in_turn("name", adaline.__all__)
def test_public_names_are_documented_and_show_an_example(name: str) -> None:
    thing = getattr(adaline, name)
    shown = inspect.getdoc(thing)
    assert shown
    assert name in dir(adaline)
    if inspect.isclass(thing) and not issubclass(thing, (Exception, adaline.Status)):
        assert "Examples" in shown
    elif not inspect.isfunction(thing):
        return
    assert ">>>" in shown


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Perceptrom", "module 'adaline' has no attribute 'Perceptrom'"),
        ("Lasso", "no attribute 'Lasso': use ElasticNet instead"),
        ("OLS", "no attribute 'OLS': use LinearRegression instead"),
        ("GLM", "no attribute 'GLM': use GeneralizedLinear instead"),
        ("SGDRegressor", "no attribute 'SGDRegressor': use LMS instead"),
    ],
)
def test_names_of_other_packages_lead_to_ours(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        getattr(adaline, name)


def test_all_is_sorted_and_complete() -> None:
    assert list(adaline.__all__) == sorted(adaline.__all__, key=lambda name: (not name.isupper(), name))
    assert {*SYSTEMS, *UNSUPERVISED, *CUSTOM} <= set(adaline.__all__)


@in_turn("system", [*SYSTEMS.values(), *CUSTOM.values()])
def test_systems_document_their_arguments_and_say_where_they_come_from(system: type[Any]) -> None:
    shown = inspect.getdoc(system) or ""
    for name in inspect.signature(system).parameters:
        assert f"{name} :" in shown, f"{name} is not documented"
    assert "imises" in shown.splitlines()[0], "the first line says what is minimised or maximised"
    assert "Lecture" in shown
    for name, method in inspect.getmembers(system, inspect.isfunction):
        if not name.startswith(("_", "get_", "set_")):
            assert inspect.getdoc(method), f"{name} is not documented"


def test_importing_is_light_and_names_may_be_taken_for_the_first_time_by_several_threads() -> None:
    """No package imports its modules while it is imported: two threads would wait for each other."""
    run(
        """
        import sys, threading
        import adaline

        heavy = ("numpy", "sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "narwhals")
        assert [name for name in heavy if name in sys.modules] == []
        names = "Ridge LogisticRegression ElasticNet GeneralizedLinear compare select OneVsOne learning_curve".split()
        together, found = threading.Barrier(len(names)), []

        def take(name):
            together.wait()
            found.append(getattr(adaline, name))

        threads = [threading.Thread(target=take, args=(name,)) for name in names]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(found) == len(names)
        """
    )


SLOW = ("sklearn", "pandas", "scipy.stats", "pyarrow", "duckdb", "sqlite3", "matplotlib", "adaline.sources.tables")


def test_no_fit_to_arrays_imports_scikit_learn_or_what_reads_tables() -> None:
    """And modules that docs and messages name are there from the start."""
    loaded = run(
        f"""
        import sys, warnings
        import adaline
        adaline.losses.Quantile(0.9), adaline.links, adaline.errors, adaline.activations
        from adaline.systems import SYSTEMS, UNSUPERVISED
        warnings.simplefilter("ignore")
        rows = [[1.0], [2.0], [4.0], [3.0], [0.5], [5.0], [2.5], [1.5]]
        for system in [*SYSTEMS.values(), *UNSUPERVISED.values()]:
            repr(system().fit(rows, [0, 1, 0, 1, 0, 1, 1, 0]))
            print([system.__name__, *(name for name in {SLOW} if name in sys.modules)])
        """
    )
    assert [line for line in loaded.splitlines() if "," in line] == []


def test_the_command_that_fits_imports_only_what_it_needs() -> None:
    pytest.importorskip("duckdb")
    shown = run(
        """
        import sys
        from adaline.cli import main
        main(["fit", "penguins", "--target", "body_mass_g"])
        spared = ("sklearn", "pandas", "scipy.stats", "matplotlib", "pydantic", "adaline.selection.cross_validation")
        print([name for name in spared if name in sys.modules])
        """
    )
    assert shown.splitlines()[-1] == "[]"


BEFORE = """
    import copy, pickle, sys, warnings
    from adaline import ElasticNet, FisherDiscriminant, GaussianMixture, GeneralizedLinear, KMeans, LinearRegression
    from adaline import LogisticRegression, Ridge
    from adaline.basis import Polynomial
    from adaline.errors import ConvergenceWarning, NotFittedError
    from adaline.estimator import clone, is_classifier, is_regressor
    X, y = [[1.0, 2.0], [2.0, 1.0], [4.0, 4.0], [5.0, 3.0]], [0, 0, 1, 1]
    models = [FisherDiscriminant(), GaussianMixture(), GeneralizedLinear(), KMeans(), LinearRegression()]
    listed = [[name for name in dir(one) if name[:4] == "set_"] for one in models]
    model = models[0].fit(X, y)

    class Shifted(LinearRegression):
        def fit(self, X, y=None, sample_weight=None, shift=0.0):
            return super().fit(X, y, sample_weight)

    shifted, basis = Shifted(fit_intercept=False), Polynomial(degree=3)
    several = (shifted, ElasticNet(loss="logistic"), LogisticRegression(class_weight={1: 2, 0: 3}), KMeans(), basis)
    kinds, shown = [(is_classifier(one), is_regressor(one)) for one in several], [repr(one) for one in several]
    assert clone(shifted).get_params() == shifted.get_params()
    assert "sklearn" not in sys.modules
"""
CLAIMS = {
    "all that scikit-learn asks of models is there": """
        import sklearn
        from sklearn import base, exceptions
        from sklearn.pipeline import make_pipeline
        assert listed == [[name for name in dir(one) if name[:4] == "set_"] for one in models]
        assert kinds == [(base.is_classifier(one), base.is_regressor(one)) for one in several]
        for one, text in zip(several, shown):
            theirs = type(type(one).__name__, (base.BaseEstimator, type(one)), {})(**one.get_params(deep=False))
            assert text == repr(one) == repr(theirs)
        try:
            Ridge().predict(X)
        except exceptions.NotFittedError as error:
            assert isinstance(error, NotFittedError)
        with warnings.catch_warnings(record=True) as caught:
            LinearRegression(solver="gradient", epochs=1).fit(X, y)
        assert issubclass(caught[0].category, ConvergenceWarning)
        assert issubclass(caught[0].category, exceptions.ConvergenceWarning)
        assert base.clone(shifted).get_params() == copy.deepcopy(shifted).get_params() == shifted.get_params()
        assert "Shifted" in make_pipeline(basis, shifted)._repr_html_()
        assert type(basis.set_output(transform="pandas").fit_transform([[1.0], [2.0]])).__module__[:6] == "pandas"
        with sklearn.config_context(enable_metadata_routing=True):
            assert shifted.set_fit_request(shift=True).get_metadata_routing().fit.requests["shift"] is True
    """,
    "a class of a user may be scikit-learn's too": """
        from sklearn import base
        class Mine(base.RegressorMixin, Ridge): pass
        class Yours(Ridge, base.RegressorMixin, base.BaseEstimator): pass
        class Its(base.BaseEstimator, Ridge): pass
        assert isinstance(Mine(), base.RegressorMixin) and isinstance(Yours(), base.BaseEstimator)
        for system in (Mine, Yours, Its):
            fitted = base.clone(system(penalty=2.0)).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
            assert fitted.score([[1.0], [2.0]], [1.0, 2.0]) > 0
        assert Mine().__sklearn_tags__() == Yours().__sklearn_tags__() == Ridge().__sklearn_tags__()
    """,
    "rows become frames once scikit-learn is set to make them": """
        import sklearn
        sklearn.set_config(transform_output="pandas")
        assert type(model.transform(X)).__module__[:6] == "pandas"
    """,
    "a pickle keeps what set_output has set": """
        found = pickle.loads(pickled).transform([[1.0]])
        assert type(found).__module__.startswith("pandas"), type(found)
    """,
    "score is there": "assert model.score([[1.0, 2.0], [5.0, 3.0]], [0, 1]) is not None",
    **{
        f"{name} is there": f"assert model.{name}() is not None"
        for name in ("_repr_html_", "set_output", "get_feature_names_out", "__sklearn_tags__")
    },
}
"""What holds of models that were made before scikit-learn was imported, each where it is the first to import it."""


def test_what_is_made_before_scikit_learn_is_imported_is_its_own_once_it_is_used() -> None:
    """One interpreter, with what takes long of all that scikit-learn itself imports, is forked for each claim."""
    basis = adaline.basis.Polynomial().set_output(transform="pandas").fit([[1.0], [2.0]])
    failed = run(
        f"""
        import os, traceback
        import pandas, scipy.stats
        pickled = {pickle.dumps(basis)!r}
        exec({textwrap.dedent(BEFORE)!r})
        for name, code in { {name: textwrap.dedent(code) for name, code in CLAIMS.items()}!r}.items():
            number = os.fork()
            if number == 0:
                try:
                    exec(code)
                except BaseException:
                    print(traceback.format_exc(), flush=True)
                    os._exit(1)
                os._exit(0)
            if os.waitpid(number, 0)[1]:
                print("not true:", name)
        """
    )
    assert failed == ""


FITS = """
    import numpy as np
    from scipy import sparse
    from adaline import LinearRegression, Ridge
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * [1.0, 1e6, 1e-6, 1.0] + [0.0, 1e7, 0.0, 1e3]
    Y = np.column_stack([X @ [1.0, 1e-6, 1e6, 0.5], X[:, 0] - X[:, 3]]) + rng.normal(size=(3000, 2))
    weight = rng.uniform(0.0, 2.0, 3000)
    fits = []
    for rows in (X, X.astype(np.float32), sparse.csr_array(X * (X > 0))):
        for model in (LinearRegression(), LinearRegression(solver="qr"), Ridge(penalty=2.0)):
            model.fit(rows, Y, sample_weight=weight)
            fits.append([model.coef_.tolist(), np.ravel(model.intercept_).tolist()])
    model = LinearRegression().partial_fit(X[:1000], Y[:1000]).partial_fit(X[1000:], Y[1000:])
    model.forget(X[:500], Y[:500])
    fits.append([model.coef_.tolist(), model.intercept_.tolist()])
"""

BLOCKED = """
    import json, sys, warnings
    sys.modules["adaline._native"] = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec({fits!r})
        from adaline import AdalineWarning
    told = [str(w.message) for w in caught if issubclass(w.category, AdalineWarning)]
    optional = ("duckdb", "torch", "dask", "pyspark", "matplotlib", "typer", "rich", "polars", "statsmodels")
    print(json.dumps([told, fits, [name for name in optional if name in sys.modules]]))
"""


def test_without_the_native_core_it_says_so_once_and_gives_the_same_answers() -> None:
    pytest.importorskip("adaline._native")
    fits = textwrap.dedent(FITS)
    told, slow, optional = json.loads(run(BLOCKED.format(fits=fits)))
    assert optional == [], "fitting needs no optional package"
    assert len(told) == 1
    assert "native core is missing" in told[0]
    assert "same" in told[0]
    here: dict[str, Any] = {}
    exec(fits, here)
    for (coef, intercept), (expected, constant) in zip(slow, here["fits"], strict=True):
        np.testing.assert_allclose(coef, expected, rtol=1e-12)
        np.testing.assert_allclose(intercept, constant, rtol=1e-12)


@in_turn("name", ["", *(f".{path.parent.name}" for path in SOURCE.glob("*/__init__.pyi"))])
def test_only_public_names_are_listed(name: str) -> None:
    package = import_module(f"adaline{name}")
    registries = {"BASES", "SCANS", "SUMS"} & vars(package).keys()
    assert {name for name in dir(package) if not name.startswith("__")} == {*package.__all__, *registries}


def test_every_extra_is_for_code_that_is_there_and_the_package_is_typed() -> None:
    assert (SOURCE / "py.typed").exists()
    source = "".join(map(text, SOURCES))
    for extra, packages in PYPROJECT["project"]["optional-dependencies"].items():
        for name in (re.split(r"[\[<>=]", package)[0] for package in packages):
            assert re.search(rf"\b{name}\b", source), f"{extra}: nothing uses {name}"


def test_every_dependency_has_one_lower_bound() -> None:
    groups = [*PYPROJECT["project"]["optional-dependencies"].values(), *PYPROJECT["dependency-groups"].values()]
    bounds: dict[str, set[str]] = {}
    for line in [*PYPROJECT["project"]["dependencies"], *(line for group in groups for line in group)]:
        name, lowest = line.split(">=")
        bounds.setdefault(name, set()).add(lowest)
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}
    assert {line.split("==")[0] for line in requirements()} >= {"numpy", "duckdb", "matplotlib", "onnx", "pandas"}


@in_turn("system", [*SYSTEMS.values(), *UNSUPERVISED.values(), *CUSTOM.values(), *BASES.values()])
def test_signatures_show_plain_types(system: Any) -> None:
    for shown in (str(inspect.signature(system)), str(inspect.signature(system.__init__))):
        assert "Annotated" not in shown
        assert ": '" not in shown
    if system is adaline.Ridge:
        assert "penalty: float | Literal['auto'] | Sequence[float] = 'auto', *, criterion: RidgeCriterion" in shown
    assert inspect.get_annotations(system.__init__, eval_str=True, globals=vars(sys.modules[system.__module__]))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_the_kernels_ask_for_no_glibc_newer_than_the_wheels_promise() -> None:
    native = pytest.importorskip("adaline._native")
    asked = {int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", Path(native.__file__).read_bytes())}
    assert asked
    assert max(asked) <= 28, sorted(asked)
