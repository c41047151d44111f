"""The layout: a learner in a file of its name, one name for one class, no circle of files, bounds to lower."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import adaline
from adaline.sources import Source
from adaline.state import FittedState
from tests.cases import EVERY

HOME = Path(adaline.__file__).parent
SOURCES = sorted(HOME.rglob("*.py"))
MOST_ANY = 600  # bare Any in signatures; there were 1774
MOST_BY_NAME = 4  # uses of vars() and __dict__ in src; there were 218
MOST_SET_FROM_OUTSIDE = 186  # assignments to attributes of other objects than self
MOST_CHANGING = 460  # attributes that methods of their own object change after `__init__`
CHANGES = {"append", "extend", "add", "update", "pop", "clear", "insert", "remove", "setdefault", "discard"}
MOST_IMPORTED_LATE = 172  # imports inside functions: of what is slow, or may be missing; there were 295
MOST_METHODS, MOST_ATTRIBUTES = 20, 15
MOST_LARGE_CLASSES = 39  # classes with more methods or attributes than these
MOST_SHARED_NAMES = 5  # names of functions of several modules
NAMED_AFTER_OTHERS = ("cli/commands.py", "plots/", "fused/", "playground/boards.py")
"""Where a function has the name of the command, picture, sum or board that it makes."""


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path))


def test_a_name_of_a_public_function_stands_for_one_thing() -> None:
    """Engines, which are alike, count once. Those left are `main`, `load`, and names of storage and of states."""
    places: dict[str, set[str]] = {}
    for path in SOURCES:
        name = path.relative_to(HOME).as_posix()
        if name.startswith(NAMED_AFTER_OTHERS):
            continue
        for one in tree(path).body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_"):
                where = "engines" if name.startswith("sources/engines/") else name
                places.setdefault(one.name, set()).add(where)
    assert len(places) > 1000
    shared = sorted(name for name, where in places.items() if len(where) > 1)
    assert len(shared) <= MOST_SHARED_NAMES, shared


@pytest.mark.parametrize("name", EVERY)
def test_a_learner_is_in_the_file_of_its_name_with_few_classes_of_ours_behind_it(name: str) -> None:
    system = EVERY[name]
    assert system.__module__.removeprefix("adaline.systems.").replace("_", "") == name.lower()
    every = ("adaline.estimator", "adaline.input.system")  # what all systems are; no reader has to open these again
    assert sum(cls.__module__.startswith("adaline.") and cls.__module__ not in every for cls in system.__mro__) <= 3


def test_no_two_classes_share_a_name_and_a_name_of_a_type_means_one_thing() -> None:
    names = Counter(name for path in SOURCES for name in re.findall(r"^ *class (\w+)", text(path), re.MULTILINE))
    assert len(names) > 500
    assert [name for name, count in names.items() if count > 1] == []
    meanings: dict[str, set[str]] = {name: {"class"} for name in names}
    for path in SOURCES:
        for name, value in re.findall(r"^([A-Z][a-z]\w+) = (.+)", text(path), re.MULTILINE):
            if "TypeVar" not in value:
                meanings.setdefault(name, set()).add(value)
    assert len(meanings) > len(names)
    assert [name for name, known in meanings.items() if len(known) > 1] == []


def test_nothing_refers_to_documents_outside_the_project() -> None:
    assert [path for path in SOURCES if re.search(r"\brows? [A-D]\d", text(path))] == []


def test_fit_drivers_take_values_and_no_system() -> None:
    for path in (HOME / "fits").glob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef):
                names = {one.arg for one in [*node.args.args, *node.args.kwonlyargs]}
                assert "system" not in names, f"{path.name}: {node.name}"


def functions_of(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the public functions and methods of a module, with `__init__` and `__call__`; none within functions."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            if not one.name.startswith("_") or one.name in ("__init__", "__call__"):
                yield one
        elif not (isinstance(one, ast.ClassDef) and one.name.startswith("_")):
            yield from functions_of(one)


def annotations_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr | None]:
    """Return the types of all parameters of a function, those of *args and **kwargs too, and of what it returns."""
    args = function.args
    taken = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    return [*(one.annotation for one in taken), function.returns]


def test_few_types_in_public_signatures_say_nothing() -> None:
    """`Any` alone; a name for it, such as `RowsLike` of `adaline.arrays`, says what is meant."""
    hints = [hint for path in SOURCES for function in functions_of(tree(path)) for hint in annotations_of(function)]
    assert len(hints) > 5000
    assert 0 < sum(isinstance(hint, ast.Name) and hint.id == "Any" for hint in hints) <= MOST_ANY


def modules() -> dict[str, Path]:
    """Return the file of each module by its name; of packages without the front door."""
    names = {path: ".".join(("adaline", *path.relative_to(HOME).with_suffix("").parts)) for path in SOURCES}
    return {
        name.removesuffix(".__init__"): path
        for path, name in names.items()
        if path.parent != HOME or path.stem[0] != "_"
    }


def names_taken(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of all imports in a file, those inside functions and for types alone too.

    And names that are taken from a package when they are used, as in `inference.anova`.
    """
    packages: dict[str, str] = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, one.name) for one in node.names)
            packages |= {one.name: f"{node.module}.{one.name}" for one in node.names if not one.asname}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            yield packages[node.value.id], node.attr
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)


def imports() -> dict[str, set[str]]:
    """Return the modules that each module imports; a name of a package is imported from the file that defines it."""
    files = modules()
    listed = {package: dict[str, str]() for package, path in files.items() if path.stem == "__init__"}
    for package, names in listed.items():
        stub = files[package].with_suffix(".pyi")
        names.update({name: module for module, name in names_taken(stub if stub.exists() else files[package])})

    def defined(module: str, name: str) -> str:
        if f"{module}.{name}" in files:
            return f"{module}.{name}"
        return defined(listed[module][name], name) if name in listed.get(module, {}) else module

    found = {module: {defined(*one) for one in names_taken(path)} for module, path in files.items()}
    return {module: (others & files.keys()) - {module} for module, others in found.items()}


def test_no_files_import_each_other_in_a_circle() -> None:
    left = imports()
    assert sum(map(len, left.values())) > 2000
    while ends := {one for one, others in left.items() if not others} | (left.keys() - set().union(*left.values())):
        left = {module: others - ends for module, others in left.items() if module not in ends}
    assert left == {}, "these files import each other in a circle"


def test_attributes_are_written_by_their_names_in_the_methods_of_their_class() -> None:
    by_name = sum(len(re.findall(r"vars\(|__dict__", text(path))) for path in SOURCES)
    assert by_name <= MOST_BY_NAME, f"{by_name} uses of vars() and __dict__: the bound may only fall"
    outside = [
        f"{path.relative_to(HOME)}:{one.lineno}"
        for path in SOURCES
        for one in ast.walk(tree(path))
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        if not (isinstance(one.value, ast.Name) and one.value.id in ("self", "cls"))
    ]
    assert len(outside) <= MOST_SET_FROM_OUTSIDE, f"{len(outside)} attributes of other objects are set: {outside}"


def set_later(cls: type) -> set[str]:
    """Return the attributes that the methods of a class but `__init__` set on their own object, or change in place."""
    path = modules()[cls.__module__]
    own = next(one for one in ast.walk(tree(path)) if isinstance(one, ast.ClassDef) and one.name == cls.__name__)
    return changed_by_methods(own)


def changed_by_methods(own: ast.ClassDef) -> set[str]:
    """Return the attributes that methods but `__init__` change, as `self.x = 1`, `self.x[0] = 1`, `self.x.add(1)`."""
    methods = [one for one in own.body if isinstance(one, ast.FunctionDef) and one.name != "__init__"]
    changed = []
    for one in (one for method in methods for one in ast.walk(method)):
        if isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store):
            changed.append(one if isinstance(one, ast.Attribute) else one.value)
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CHANGES:
            changed.append(one.func.value)
    names = [one for one in changed if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"]
    return {one.attr for one in names}


def subclasses(cls: type) -> set[type]:
    return {cls}.union(*map(subclasses, cls.__subclasses__()))


def test_nothing_is_set_on_a_source_after_its_construction() -> None:
    """What reads find is remembered beside it: counts of reads, labels of tables, and properties computed once."""
    for name in modules():
        if name.startswith(("adaline.sources.", "adaline.systems.", "adaline.solvers.")) and "engines" not in name:
            import_module(name)
    sources = {one for one in subclasses(Source) if one.__module__.startswith("adaline.")}
    assert len(sources) > 20
    assert {one.__name__: found for one in sources if (found := set_later(one) - {"reads"})} == {}


def test_few_objects_change_after_their_construction() -> None:
    classes = [node for path in SOURCES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    changing = {(node.name, name) for node in classes for name in changed_by_methods(node)}
    assert 0 < len(changing) <= MOST_CHANGING, len(changing)


def test_a_model_is_its_parameters_and_one_state() -> None:
    """`_state` is all that methods set, but for `set_output` of scikit-learn; parameters are set by `set_params`."""
    kinds = {one for system in EVERY.values() for one in system.__mro__ if one.__module__.startswith("adaline.")}
    assert len(kinds) > 40
    assert {
        one.__name__: found for one in kinds if (found := set_later(one) - {"_state", "_sklearn_output_config"})
    } == {}
    states = {one for one in subclasses(FittedState) if one.__module__.startswith("adaline.")}
    assert len(states) > 15
    assert all(one.__dataclass_params__.frozen for one in states)  # type: ignore[attr-defined]


def test_imports_are_at_the_top_of_a_file_but_for_those_that_are_slow() -> None:
    """Modules of `adaline.lazy` (`pa`) and names of packages (`inference.anova`) wait for their first use."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [one for path in SOURCES for one in ast.walk(tree(path)) if isinstance(one, kinds)]
    late = {node for one in functions for node in ast.walk(one) if isinstance(node, ast.Import | ast.ImportFrom)}
    assert 0 < len(late) <= MOST_IMPORTED_LATE, f"{len(late)} imports inside functions"


def size_of(node: ast.ClassDef) -> tuple[int, int]:
    """Return the number of methods of a class, and of attributes that its body names or its methods set."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    assigned = [one for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    targets = [one for line in assigned for one in (line.targets if isinstance(line, ast.Assign) else [line.target])]
    names = {one.id for one in targets if isinstance(one, ast.Name)}
    for one in (one for method in methods for one in ast.walk(method)):
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self":
            names.add(one.attr)
    return len(methods), len(names)


def test_classes_are_of_moderate_size() -> None:
    classes = [node for path in SOURCES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    sizes = {node.name: size_of(node) for node in classes}
    assert len(sizes) > 500
    large = {name: size for name, size in sizes.items() if size[0] > MOST_METHODS or size[1] > MOST_ATTRIBUTES}
    assert len(large) <= MOST_LARGE_CLASSES, f"methods and attributes of {len(large)} large classes: {large}"


def test_files_of_kernels_that_docstrings_name_are_there() -> None:
    named = {name for path in SOURCES for name in re.findall(r"`(native/[\w.]+)`", path.read_text())}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (HOME.parents[1] / name).exists()] == []
    for folder in ("scans", "sums"):  # whoever calls a kernel says where it is
        for path in (HOME / folder).glob("*.py"):
            text = path.read_text()
            if re.search(r"rule = \"|native\.\w+_dense\(|call_native\(\"objective", text):
                assert "native/" in text, path
