"""Design: a page for each part that `design.md` links to, from the docstring of its folder, or the README there."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from textwrap import fill
from typing import Any

ROOT = Path(__file__).parents[2]
DESIGN = ROOT / "docs" / "design.md"
LINK = re.compile(r"\[([^\]]+)\]\(\.\./((?:src/adaline/)?([\w/]+)/(?:__init__\.py|README\.md))\)")
EXAMPLE = re.compile(r"^>>> (?:.+(?:\n|$))+", re.MULTILINE)


def parts() -> dict[str, tuple[str, Path]]:
    """Return the title of each part and the file that explains it, by folder."""
    found = LINK.findall(DESIGN.read_text(encoding="utf-8"))
    return {folder: (title, ROOT / path) for title, path, folder in found}


def explanation(path: Path) -> str:
    """Return the docstring of a module, or the text of a README without its title."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text.partition("\n\n")[2]
    return ast.get_docstring(ast.parse(text)) or ""


def layers() -> tuple[str, str]:
    """Return the layers of the contract of imports, the highest first, in lines, and the names in the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(one for one in settings["contracts"] if one["type"] == "layers")
    *above, lowest = (layer for layer in contract["layers"] if layer != "__main__")
    names = lowest.split(" : ")
    chain = " > ".join([*(layer.replace(" | ", "_|_") for layer in above), f"{', '.join(names[:6])}, ..."])
    lines = fill(chain, 120, initial_indent="    ", subsequent_indent="        ")
    return lines.replace("_|_", " | "), " ".join(names)


def page(title: str, path: Path) -> str:
    """Return the page of a part; underlined sections of a docstring are headings in Markdown too."""
    text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", explanation(path))
    return f"# {title}\n\n*From `{path.relative_to(ROOT).as_posix()}`.*\n\n{text}\n"


def on_config(config: Any) -> Any:
    """Put the pages into the navigation, where it has `design/`."""
    pages = [{title: f"design/{folder}.md"} for folder, (title, _) in parts().items()]
    config.nav = _filled(config.nav, pages)
    return config


def _filled(nav: Any, pages: list[dict[str, str]]) -> Any:
    if isinstance(nav, dict):
        return {title: _filled(entry, pages) for title, entry in nav.items()}
    if isinstance(nav, list):
        return [one for entry in nav for one in (pages if entry == "design/" else [_filled(entry, pages)])]
    return nav


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File

    for folder, part in parts().items():
        files.append(File.generated(config, f"design/{folder}.md", content=page(*part)))
    return files


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """Link from `design.md` to the pages."""
    if page.file.src_uri != DESIGN.name:
        return text
    return LINK.sub(lambda found: f"[{found[1]}](design/{found[3]}.md)", text)
