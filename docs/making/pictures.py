"""The pictures of the guide: code of a page that saves some runs as the site is built, and they stand beside it."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

GUIDE = Path(__file__).parents[1] / "guide"


def on_files(files: Any, config: Any) -> Any:
    """Add the pictures."""
    from mkdocs.structure.files import File

    for page in sorted(GUIDE.glob("*.md")):
        code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
        if ".savefig(" in code:
            for name, content in saved(code).items():
                files.append(File.generated(config, f"guide/{name}", content=content))
    return files


def saved(code: str) -> dict[str, bytes]:
    """Run code in a folder of its own; return the pictures that it leaves there, by name."""
    before = Path.cwd()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(compile(code, "guide", "exec"), {})
        finally:
            os.chdir(before)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.png"))}
