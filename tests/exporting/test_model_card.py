"""Model cards: of every system, in both formats, and no text of the data can become mark-up."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from adaline import AdditiveModel, LinearRegression, LogisticRegression, card, from_sklearn, open_table
from adaline.errors import InvalidParameter, InvalidType
from tests.cases import Case, cases


@cases()
def test_every_system_has_a_card(case: Case, tmp_path: Path) -> None:
    model = case.fit(case.rows())
    text = card(model)
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles[:5] == ["## Model", "## Data", "## Coefficients", "## Certificate", "## Findings"]
    assert "nan" not in text.replace("NaN", "").lower().split()
    assert card(model, tmp_path / "card.html") == (tmp_path / "card.html").read_text(encoding="utf-8")


def test_a_card_says_what_is_known() -> None:
    table = open_table("penguins", formula="body_mass_g ~ sex + flipper_length_mm", missing="mean")
    lines = card(LinearRegression().fit(table)).splitlines()
    assert lines[0] == "# LinearRegression of body_mass_g"
    known = ("filled by the mean", "| sex | category | female (49.", "| sex\\[T.male\\] | 347", "| status | solved |")
    for said in known:
        assert any(said in line for line in lines), said
    assert sum(line.startswith("_To be filled in") for line in lines) == 3


def test_tables_of_curves_and_groups_stay_tables(tmp_path: Path) -> None:
    table = open_table("penguins", formula="body_mass_g ~ s(flipper_length_mm, k=4) + (1 | species)", missing="drop")
    model = AdditiveModel().fit(table)
    own = model.summary().closing()
    assert "\n".join(["```", *own, "```"]) in card(model)
    assert "<pre>term " in card(model, tmp_path / "card.html")


def test_no_text_becomes_mark_up() -> None:
    bad = "<script>alert(1)</script> | *x*\n# y"
    frame = pd.DataFrame({bad: [1.0, 2.0, 3.0, 5.0, 7.0, 1.0], "c": [bad, "b", bad, "b", "b", "b"]})
    model = LogisticRegression(penalty=1.0).fit(frame, [bad, "n", "n", bad, "n", "n"])
    text = card(model)
    assert "<script>" not in text
    assert "\n# y" not in text
    assert r"\|" in text


def test_bad_input(tmp_path: Path) -> None:
    from sklearn.linear_model import Ridge

    model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    with pytest.raises(InvalidParameter, match=r"end 'card.txt' in .md or .html"):
        card(model, tmp_path / "card.txt")
    theirs = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(InvalidType, match="from_sklearn"):
        card(theirs)
    assert "given" in card(from_sklearn(theirs))
    with pytest.raises(ValueError, match="not fitted"):
        card(LinearRegression())
