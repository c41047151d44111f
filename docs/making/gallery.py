"""The gallery: a page for each script in examples/, with its words, its figure (drawn at build time) and its code."""

from __future__ import annotations

import ast
import importlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"

LECTURES = {
    "s0": "S0: linear learning systems",
    "s1": "S1: linear regression and the perceptron",
    "s2": "S2: linear classifiers",
    "s3": "S3: linear discriminant functions",
    "s4": "S4: linear learning",
}

ABOUT = """---
hide: [toc]
---

# The lectures, re-played

Each statement of the lectures is a short script with a figure, and an assertion that fails where the statement does.
They run when this site is built, and with the tests; `python examples/{first}.py` runs one by hand.
"""


@dataclass(frozen=True)
class Example:
    """A script: its name, the claim in one line, the words about it, and the code without them."""

    name: str
    title: str
    prose: str
    code: str

    @property
    def page(self) -> str:
        return (
            f"---\nhide: [toc]\n---\n\n# {self.title}\n\n![]({self.name}.png){{ .figure }}\n\n{self.prose}\n\n"
            f'## Code\n\n```python title="examples/{self.name}.py"\n{self.code}\n```\n'
        )

    @property
    def card(self) -> str:
        return f"-   [![]({self.name}.png)]({self.name}.md)\n\n    [{self.title}]({self.name}.md)\n"

    def figure(self) -> bytes:
        """Run the script and return its figure, a PNG."""
        out = io.BytesIO()
        importlib.import_module(self.name).main().savefig(out, format="png", dpi=130)
        return out.getvalue()


def read(path: Path) -> Example:
    """Return the example in a file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, prose = (ast.get_docstring(tree) or "").partition("\n\n")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    return Example(path.stem, " ".join(title.split()).rstrip("."), prose, code)


def index(examples: list[Example]) -> str:
    """Return the page of thumbnails, by lecture."""
    parts = [ABOUT.format(first=examples[0].name)]
    for key, lecture in LECTURES.items():
        cards = [example.card for example in examples if example.name.startswith(f"{key}_")]
        if cards:
            parts += [f"## {lecture}", '<div class="grid cards gallery" markdown>\n', *cards, "</div>\n"]
    return "\n".join(parts)


def on_config(config: Any) -> Any:
    """Put the pages of the examples into the navigation, under their lectures."""
    examples = [read(path) for path in sorted(EXAMPLES.glob("s[0-9]_*.py"))]
    lectures = [
        {lecture: [{e.title: f"gallery/{e.name}.md"} for e in examples if e.name.startswith(f"{key}_")]}
        for key, lecture in LECTURES.items()
    ]
    chapter = ["gallery/index.md", *(part for part in lectures if any(part.values()))]
    config.nav = [{"Gallery": chapter} if entry == {"Gallery": "gallery/"} else entry for entry in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Run the examples and add their pages."""
    from mkdocs.structure.files import File

    examples = [read(path) for path in sorted(EXAMPLES.glob("s[0-9]_*.py"))]
    sys.path.insert(0, str(EXAMPLES))
    files.append(File.generated(config, "gallery/index.md", content=index(examples)))
    for example in examples:
        files.append(File.generated(config, f"gallery/{example.name}.md", content=example.page))
        files.append(File.generated(config, f"gallery/{example.name}.png", content=example.figure()))
    sys.path.remove(str(EXAMPLES))
    return files
