"""A body that went wrong on its way is refused, and nothing else happens; make test-service sends thousands."""

from __future__ import annotations

from tests.serve.mutations import attack


def test_no_mutated_body_is_a_fault_of_ours() -> None:
    found = attack(1, 300)
    assert found[422] > 100
    assert found[200] > 10
