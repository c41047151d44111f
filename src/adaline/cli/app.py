"""The application that commands belong to: how one is registered and run.

Nothing slow is imported here, so that help and completion need neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from adaline import __version__
from adaline.cli.options import FILE_OPTIONS, TABLE_OPTIONS, bundled_names

EXAMPLES = """
\b
Examples:
  adaline compare penguins --target body_mass_g
  adaline fit flights.csv --target arr_delay -o delay.adaline
  adaline predict delay.adaline new.parquet -o predicted.csv
  adaline update delay.adaline tomorrow.csv

DATA is a file, - for standard input, a folder, a glob, a query or a bundled data set. Results go to stdout, notes to
stderr, --json is for machines. Exit codes: 0 done, 1 internal error, 2 invalid input, 130 interrupted, 141 broken pipe,
143 terminated. Ctrl-C ends a command within two seconds, a second Ctrl-C at once.
"""

CALLED = {
    **dict.fromkeys(("data", "datasets", "dataset"), "adaline systems --data"),
    **dict.fromkeys(("models", "list"), "adaline systems"),
    "train": "adaline fit",
    "evaluate": "adaline score",
    "tune": "adaline select",
    "show": "adaline summary",
    "help": "adaline --help",
    "version": "adaline --version",
}
"""Commands by the names that people try."""


@dataclass
class Call:
    """The command line being run: its words, whether tracebacks are shown, and whether it is that of the process."""

    words: list[str] = field(default_factory=list)
    debug: bool = False
    owns_process: bool = False


call = Call()


def taken_as_given(parameters: list[Any], texts: Collection[str] = ()) -> list[Any]:
    """Return the parameters of a command; they take texts, those of these names, and defaults as they are.

    To check that a text is a text typer imports pydantic, which takes as long as to fit a small table.
    """
    for one in parameters:
        if not isinstance(one.process_value, partial):
            one.process_value = partial(_processed, one, one.process_value, one.name in texts)
    return parameters


def _processed(parameter: Any, convert: Callable[[Any, Any], Any], text: bool, context: Any, value: Any) -> Any:
    """Return the value of a parameter after its callback, by typer unless it is a text, or a default."""
    source = context.get_parameter_source(parameter.name)
    several = parameter.multiple or parameter.nargs == -1
    if source is not None and source.name == "DEFAULT":
        plain = (value is None and not parameter.required) or isinstance(value, str | int | float)
    else:
        plain = text and isinstance(value, str) and not several
    if not plain:
        return convert(context, value)
    value = () if several and value is None else value
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


class Group(TyperGroup):
    """All commands, with the options before them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return taken_as_given(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named; of a name that other tools have for one, say which it is here."""
        if args[0] in CALLED:
            ctx.fail(f"No such command '{args[0]}'. It is '{CALLED[args[0]]}' here.")
        if self.get_command(ctx, args[0]) is None and (Path(args[0]).is_file() or args[0] in bundled_names()):
            whole = f"adaline compare {shlex.quote(args[0])} --target COLUMN"
            ctx.fail(f"'{args[0]}' is a table, not a command. To compare models on it: {whole}.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="adaline",
    cls=Group,
    help="Linear models, fast and accurate, with a report on the numerical accuracy of each fit.",
    epilog=EXAMPLES,
    rich_markup_mode=None,  # drawing help by rich takes as long again as all of typer
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"adaline {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; allowed anywhere on the line.")] = False,
) -> None:
    """Linear models, fast and accurate, with a report on the numerical accuracy of each fit."""


TEXTS = ((str,), (str | None,))


def _call(body: Callable[..., None], given: dict[str, Any]) -> None:
    """Run the body of a command."""
    if "reading" in given:
        from adaline.sources.tables.file_options import FileOptions

        given = {**given, "reading": FileOptions.of(**given["reading"])}
    body(**given)


def _hidden(option: inspect.Parameter) -> inspect.Parameter:
    """Return an option that the help does not show."""
    kind, shown = get_args(option.annotation)
    unseen = copy(shown)
    unseen.hidden = True
    return option.replace(annotation=Annotated[kind, unseen])


def command(
    short_help: str, *examples: str, unharmed: str = "nothing was written", hidden: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command; its arguments are its options, its body runs guarded and ends in an exit code.

    Parameters
    ----------
    short_help : a line for the list of commands; the docstring is the help of the command itself.
    examples : command lines for the end of its help.
    unharmed : what is true of files if it is interrupted.
    hidden : options of `table_options` that the command refuses with a message of its own, and its help does not show.

    An argument called `options` stands for DATA and all of `table_options` and `file_options`, and receives their
    values as a dictionary; one called `reading` stands for those of `file_options`, and receives them as FileOptions.
    """

    def register(body: Callable[..., None]) -> Callable[..., None]:
        parameters = dict(inspect.signature(body, eval_str=True).parameters)
        shared = TABLE_OPTIONS if parameters.pop("options", None) is not None else {}
        shared = {name: _hidden(one) if name in hidden else one for name, one in shared.items()}
        files = FILE_OPTIONS if parameters.pop("reading", None) is not None else {}

        def run(**given: Any) -> None:
            from adaline.cli.exit import guarded

            if shared:
                given["options"] = {name: given.pop(name) for name in shared}
            if files:
                given["reading"] = {name: given.pop(name) for name in files}
            raise typer.Exit(guarded(partial(_call, body, given), unharmed, call.debug))

        ahead: dict[str, inspect.Parameter] = {name: shared[name] for name in ("data", "target") if name in shared}
        end = {"json": parameters.pop("json")} if "json" in parameters else {}
        ordered = {**ahead, **parameters, **files, **shared, **end}
        run.__doc__ = body.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in ordered.values()]
        )
        head = ["\b", "Examples:" if len(examples) > 1 else "Example:"] if examples else []
        epilog = "\n".join([*head, *(f"  {line}" for line in examples)]) or None
        texts = [name for name, one in ordered.items() if get_args(one.annotation)[:1] in TEXTS]

        class Command(TyperCommand):
            def get_params(self, ctx: Any) -> list[Any]:
                return taken_as_given(super().get_params(ctx), texts)

        app.command(body.__name__.replace("_", "-"), cls=Command, short_help=short_help, epilog=epilog)(run)
        return body

    return register
