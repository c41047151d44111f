"""`adaline verify-proof`, and the proofs that `adaline fit --prove` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import adaline
from tests.cli.command_line import Shell

DATA = Path(adaline.__file__).parent / "datasets"


def test_proofs_are_written_and_verified(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = shell("fit", DATA / "penguins.csv", "-t", "body_mass_g", "-o", "m.adaline", "--prove")
    assert "proof: m.proof" in done.out
    verified = shell("verify-proof", "m.proof", DATA / "penguins.csv", "--json").json
    assert verified["rows"] == 333
    assert "adaline verify-proof" in shell("verify-proof", "--help").out
    changed = Path("m.proof").read_text().replace('"penalty": 0.0', '"penalty": 0.5')
    Path("other.proof").write_text(changed)
    refused = shell("verify-proof", "other.proof", DATA / "penguins.csv")
    assert refused.code == 2
    assert "not verified" in refused.err
    lines = (DATA / "penguins.csv").read_text().splitlines()
    Path("other.csv").write_text("\n".join([*lines[:3], lines[3].replace("40.3", "bird"), *lines[4:]]))
    assert "not verified: row 2, bill_length_mm" in shell("verify-proof", "m.proof", "other.csv").err
    assert shell("verify-proof", "m.adaline", DATA / "penguins.csv").code == 2
