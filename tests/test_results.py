"""How a fit ended: members that are rebuilt from their class and value, by whoever stores them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields

import pytest

from adaline import LinearRegression, Status


@pytest.mark.parametrize("member", list(Status), ids=str)
def test_a_status_is_rebuilt_from_its_class_and_value(member: Status) -> None:
    assert Status(member.value) is member
    assert Status(str(member)) is member
    for made, given in (member.__reduce__(), *(member.__reduce_ex__(p) for p in range(pickle.HIGHEST_PROTOCOL + 1))):
        assert made is Status
        assert made(*given) is member
    assert pickle.loads(pickle.dumps(member)) is member
    assert copy.deepcopy(member) is member
    assert member.advice


def test_what_is_made_without_a_constructor_has_all_its_fields() -> None:
    model = LinearRegression().fit([[0.0], [1.0], [2.0], [4.0]], [1.0, 2.0, 4.0, 7.0])
    summary = model.summary()
    for one in (model.certificate_, summary, summary.parts[0]):
        assert vars(one).keys() >= {field.name for field in fields(one)}
