import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from adaline import datasets
from adaline.errors import InvalidParameter
from tests import nist


@pytest.mark.parametrize("name", datasets.names())
def test_every_set_is_a_small_complete_table_with_names_that_says_where_it_comes_from(name: str) -> None:
    data = datasets.load(name)
    assert data.X.dtype == np.float64
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert np.isfinite(data.X).all()
    assert "Origin:" in data.description
    assert "Licence:" in data.description
    assert datasets.describe(name).startswith(f"{name}: {len(data.y)} rows")
    assert "\n" not in datasets.describe(name)
    assert datasets.path(name).stat().st_size < 300_000
    frame = pd.read_csv(datasets.path(name))
    assert {*data.feature_names, data.target_name} <= set(frame.columns)
    assert not frame.isna().any().any()
    np.testing.assert_array_equal(frame[list(data.feature_names)].to_numpy(dtype=float), data.X)


@pytest.mark.parametrize("name", ["longley", "norris"])
def test_sets_of_nist_are_those_of_the_certified_files(name: str) -> None:
    data, certified = datasets.load(name), nist.read(name.capitalize())
    np.testing.assert_array_equal(data.X, certified.X)
    np.testing.assert_array_equal(data.y, certified.y)


def test_any_column_can_be_the_target_and_categories_are_kept() -> None:
    mass, sex = datasets.load("penguins", target="body_mass_g"), datasets.load("penguins", target="sex")
    assert mass.y.dtype == np.float64
    assert "body_mass_g" not in mass.feature_names
    assert set(sex.y.tolist()) == {"female", "male"}
    assert sex.X.shape[1] == 4
    assert {"species", "island", "sex", "year"} <= set(pd.read_csv(datasets.path("penguins")).columns)


def test_breast_cancer_is_that_of_scikit_learn() -> None:
    ours, theirs = datasets.load("breast_cancer"), load_breast_cancer()
    np.testing.assert_array_equal(ours.X, theirs.data)
    assert list(ours.feature_names) == [name.replace(" ", "_") for name in theirs.feature_names]
    assert (ours.y == theirs.target_names[theirs.target]).all()


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="there are: abalone, breast_cancer"):
        datasets.load("iris")
    with pytest.raises(InvalidParameter, match="no data set is called"):
        datasets.path("../penguins")
    with pytest.raises(InvalidParameter, match="no column 'price'"):
        datasets.load("longley", target="price")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("load_wine", r"use adaline\.datasets\.load\('wine'\)"),
        ("penguins", r"use adaline\.datasets\.load\('penguins'\)"),
        ("load_iris", r"adaline\.datasets\.load\(name\) takes one of abalone, breast_cancer"),
        ("nothing", r"has no attribute 'nothing'$"),
    ],
)
def test_loaders_of_other_packages_are_answered_with_ours(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=advice):
        getattr(datasets, name)
