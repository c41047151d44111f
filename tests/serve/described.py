"""What schemathesis makes of the description of the service, sent to it: `python -m tests.serve.described`.

Every answer has a status, a kind and a body that the description has, and none is a fault of ours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from adaline import LMS, storage
from tests.serve.examples import fitted

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
)


def main() -> int:
    """Serve a model that learns, let schemathesis ask it, and return how that ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="for each path and method")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storage.save(fitted(LMS()), Path(folder) / "scan.adaline")
        command = [sys.executable, "-m", "adaline", "serve", "scan.adaline", "--learn", "--port", "0"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            asked = ["schemathesis", "run", f"{url}/openapi.json", "--checks", ",".join(CHECKS)]
            asked += ["--max-examples", str(given.examples), "--phases", "examples,coverage,fuzzing", "--seed", "1"]
            try:
                return subprocess.run([Path(sys.executable).with_name(asked[0]), *asked[1:]], cwd=folder).returncode
            finally:
                process.terminate()


if __name__ == "__main__":
    sys.exit(main())
