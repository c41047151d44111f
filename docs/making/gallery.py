"""The galleries: a page for each script in examples/, with its words, its figure, what it prints and its code.

They run when the site is built. Scripts named s0_ to s4_ replay the lectures; those named task_ answer a
question about a CSV file.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from recordings import FOLDER, RECORDINGS
from scripts import EXAMPLES, Made, made, run

LIVE = {one.example: one for one in RECORDINGS.values()}

LECTURES = {
    "s0": "S0: linear learning systems (lecture notes, chapter 5)",
    "s1": "S1: linear regression and the perceptron (Verleysen)",
    "s2": "S2: linear classifiers (Elder)",
    "s3": "S3: linear discriminant functions (Leibe)",
    "s4": "S4: linear learning (LeCun)",
}

ABOUT_LECTURES = """---
hide: [toc]
---

# The lectures, replayed

Each statement of the lectures is a short script with a figure, and an assertion that fails if the statement does not
hold. The scripts run when this site is built, and with the tests; `python examples/{first}.py` runs one by hand. The
[theory pages](../theory/index.md) have the equations and exercises.
"""

ABOUT_TASKS = """---
hide: [navigation, toc]
---

# Analyse my data

Ten worked examples, each starting from a CSV file and ending with an answer in one sentence. The files are bundled with
the package, so every script runs unchanged: `python examples/{first}.py`. For your own data, change
the path and the column names.
"""


@dataclass(frozen=True)
class Example:
    """A script: its name, its claim or question in one line, the words about it, and the code without them."""

    name: str
    title: str
    prose: str
    code: str

    @property
    def is_task(self) -> bool:
        return self.name.startswith("task_")

    @property
    def page(self) -> str:
        answer = f'!!! success "Answer"\n    {self.answer}\n\n' if self.is_task else ""
        printed = f"## Printed\n\n```text\n{self.made.printed}\n```\n\n" if self.is_task else ""
        hidden = "navigation, toc" if self.is_task else "toc"
        figure = f"![]({self.name}.png){{ .figure{' .wide' * self.made.wide} }}"
        return (
            f"---\nhide: [{hidden}]\n---\n\n# {self.title}\n\n{answer}{figure}\n\n{self.prose}\n\n{self.live}"
            f'{printed}## Code\n\n```python title="examples/{self.name}.py"\n{self.code}\n```\n'
        )

    @property
    def live(self) -> str:
        """The recording of the scene of the playground that shows the same, and how to open it."""
        if self.name not in LIVE:
            return ""
        one = LIVE[self.name]
        return (
            f"## Live\n\n![{one.label}](../assets/{FOLDER.name}/{one.file}){{ .recording }}\n\n"
            f"{one.label}. `adaline play --scene {one.scene}` opens this scene of the "
            "[playground](../guide/playground.md).\n\n"
        )

    @property
    def card(self) -> str:
        answer = f"\n    {self.answer}\n" if self.is_task else ""
        return f"-   [![]({self.name}-small.png)]({self.name}.md)\n\n    [{self.title}]({self.name}.md)\n{answer}"

    @property
    def answer(self) -> str:
        """What a task prints last."""
        last = self.made.printed.rpartition("Answer: ")[2]
        return last[0].upper() + last[1:]

    @cached_property
    def made(self) -> Made:
        return run(self.name)


def read(path: Path) -> Example:
    """Return the example in a file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, prose = (ast.get_docstring(tree) or "").partition("\n\n")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    return Example(path.stem, " ".join(title.split()).rstrip("."), prose, code)


def lectures() -> list[Example]:
    """The scripts that replay the lectures."""
    return [read(path) for path in sorted(EXAMPLES.glob("s[0-9]_*.py"))]


def tasks() -> list[Example]:
    """The scripts that answer a question about a table."""
    return [read(path) for path in sorted(EXAMPLES.glob("task_*.py"))]


def index(examples: list[Example]) -> str:
    """Return the page of thumbnails, by lecture where they are of lectures."""
    grid = '<div class="grid cards gallery" markdown>\n'
    if examples[0].is_task:
        return "\n".join(
            [
                ABOUT_TASKS.format(first=min((e.name for e in examples), key=len)),
                grid,
                *(e.card for e in examples),
                "</div>\n",
            ]
        )
    parts = [ABOUT_LECTURES.format(first=examples[0].name)]
    for key, lecture in LECTURES.items():
        cards = [example.card for example in examples if example.name.startswith(f"{key}_")]
        if cards:
            parts += [f"## {lecture}", grid, *cards, "</div>\n"]
    return "\n".join(parts)


def on_config(config: Any) -> Any:
    """Put the pages of the examples into the navigation, those of the lectures under their lectures."""
    by_lecture = [
        {lecture: [{e.title: f"gallery/{e.name}.md"} for e in lectures() if e.name.startswith(f"{key}_")]}
        for key, lecture in LECTURES.items()
    ]
    chapters = {
        "gallery/": ["gallery/index.md", *(part for part in by_lecture if any(part.values()))],
        "tasks/": ["tasks/index.md", *({e.title: f"tasks/{e.name}.md"} for e in tasks())],
    }
    config.nav = [filled(entry, chapters) for entry in config.nav]
    return config


def filled(entry: Any, chapters: dict[str, Any]) -> Any:
    """Return an entry of the navigation with chapters in place of their folders."""
    if not isinstance(entry, dict):
        return entry
    ((title, page),) = entry.items()
    if isinstance(page, list):
        return {title: [filled(one, chapters) for one in page]}
    return {title: chapters.get(page, page)}


def on_files(files: Any, config: Any) -> Any:
    """Run the examples and add their pages."""
    from mkdocs.structure.files import File

    found = [*lectures(), *tasks()]
    for example, result in zip(found, made(example.name for example in found), strict=True):
        vars(example)["made"] = result
        folder = "tasks" if example.is_task else "gallery"
        files.append(File.generated(config, f"{folder}/{example.name}.md", content=example.page))
        for name, content in result.pictures.items():
            files.append(File.generated(config, f"{folder}/{name}", content=content))
    for folder, is_task in (("gallery", False), ("tasks", True)):
        page = index([example for example in found if example.is_task == is_task])
        files.append(File.generated(config, f"{folder}/index.md", content=page))
    return files
