"""How a fit ended: members that are rebuilt from their class and value, by whoever stores them."""

from __future__ import annotations

import copy
import pickle

import pytest

from adaline import Status


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
