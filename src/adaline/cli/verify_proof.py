"""`adaline verify-proof`: checks a stored proof of coefficients against a CSV file, by rational arithmetic alone."""

from __future__ import annotations

from pathlib import Path

from adaline.cli.output import print_json, say
from adaline.enclosures.checker import Refuted, verify_files
from adaline.errors import InvalidData
from adaline.wording import counted, file_name


def run_verify_proof(proof: Path, data: Path, as_json: bool) -> None:
    """Verify a proof, and say what it proves; refuse one that is not confirmed."""
    try:
        found, rows = verify_files(proof, data)
    except Refuted as error:
        raise InvalidData(f"{file_name(proof)}: not verified: {error}") from error
    if as_json:
        print_json({"proof": str(proof), "data": str(data), "verified": True, "rows": rows})
        return
    bounds = sum(len(one) - (not found["intercept"]) for one in found["lower"])
    say(f"verified: {counted(bounds, 'coefficient')} within the bounds, exactly one solution, {counted(rows)}")
