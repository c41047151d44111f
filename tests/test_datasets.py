import numpy as np
import pytest

from adaline import datasets
from adaline.errors import InvalidParameter
from tests import nist


@pytest.mark.parametrize("name", datasets.names())
def test_every_set_is_complete_and_says_where_it_comes_from(name: str) -> None:
    data = datasets.load(name)
    assert data.X.dtype == np.float64
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert np.isfinite(data.X).all()
    assert "Origin:" in data.description
    assert "Licence:" in data.description


@pytest.mark.parametrize("name", ["longley", "norris"])
def test_sets_of_nist_are_those_of_the_certified_files(name: str) -> None:
    data, certified = datasets.load(name), nist.read(name.capitalize())
    np.testing.assert_array_equal(data.X, certified.X)
    np.testing.assert_array_equal(data.y, certified.y)


def test_any_column_can_be_the_target() -> None:
    mass = datasets.load("penguins", target="body_mass_g")
    assert mass.y.dtype == np.float64
    assert "body_mass_g" not in mass.feature_names
    sex = datasets.load("penguins", target="sex")
    assert set(sex.y.tolist()) == {"female", "male"}
    assert sex.X.shape[1] == 4


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="there are: longley, norris, penguins"):
        datasets.load("iris")
    with pytest.raises(InvalidParameter, match="no column 'price'"):
        datasets.load("longley", target="price")
