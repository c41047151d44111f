"""The models of a service by name: which of them predict, which learn, and their versions.

A model comes from a file, named after its stem; from a folder, whose files are models and whose subfolders hold the
versions of one, such as mass/1.adaline and mass/2.adaline; or from memory. A new version is written before it is used,
and no file of the user is changed: versions of mass.adaline that arrive by HTTP are snapshots in the folder
mass.versions, or, if the model learns, in the folder of its journal.
"""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from adaline import storage
from adaline.attributes import own_attributes
from adaline.errors import AdalineError, InvalidParameter, ModelFileError
from adaline.fitted import AnyModel, can_continue, can_predict, gives_probabilities, rows_of
from adaline.input.coded import as_coded
from adaline.serve.learner import Learner
from adaline.serve.learning_model import CHAMPION
from adaline.serve.metrics import Drift, drift_of
from adaline.serve.requests import Refused
from adaline.serve.rows import RowColumn, RowLayout
from adaline.serve.security import check_model_name
from adaline.serve.snapshots import Snapshot, SnapshotFolder
from adaline.wording import plain

SUFFIX = ".adaline"
MOST_HISTORY = 600  # points of the progressive error kept for the page; doubling it shows a longer past


@dataclass(frozen=True)
class LearnOptions:
    """How the models of a service learn.

    Parameters
    ----------
    learn : whether rows are taken to learn from.
    journal : the folder of the journal, or of those of several models; beside the model file where None is given.
    queue_rows : rows that may wait.
    challengers : other fitted systems that learn the same rows, by name.
    """

    learn: bool = False
    journal: Path | None = None
    queue_rows: int = 100_000
    challengers: Mapping[str, Any] | None = None


class ServedModel:
    """A model under its name.

    Parameters
    ----------
    name : of the model.
    model : the fitted system.
    learner : what learns, where that is on; its `current` then predicts.
    versions : the folder for versions of a model that has no learner, made when the first comes; None keeps none.
    numbered : older versions by number, that requests may name.
    learns : whether rows are taken to learn from.
    origin : what to tell of where the model is from, where that is not the file that was named.
    """

    def __init__(
        self,
        name: str,
        model: AnyModel,
        *,
        learner: Learner | None = None,
        versions: Path | None = None,
        numbered: Mapping[int, Any] | None = None,
        learns: bool = False,
        origin: str | None = None,
    ) -> None:
        self.name, self.learner, self.versions, self.learns, self.origin = name, learner, versions, learns, origin
        self.numbered = dict(numbered or {})
        self._model = model
        self._published: Any = None
        self._changing = Lock()
        self.history: deque[tuple[int, float, float]] = deque(maxlen=MOST_HISTORY)
        self._layout = (self.current, RowLayout.of(self.current))
        self.drift: Drift | None = drift_of(self.current)

    @property
    def current(self) -> Any:
        """The model for predictions, which is never changed in place."""
        return self._model if self.learner is None else self.learner.current

    def version(self, number: str | None) -> Any:
        """Return the model of a version that a request names; the current one for None."""
        if number is None:
            return self.current
        if not re.fullmatch("[0-9]{1,9}", number) or int(number) not in self.numbered:
            known = ", ".join(map(str, self.numbered)) or "the current one alone"
            raise Refused(404, f"{self.name} has no version {number!r:.20}; there are: {known}")
        return self.numbered[int(number)]

    def layout(self, model: AnyModel) -> RowLayout:
        """Return what rows of one of the models of this name look like; that of the last one asked for is kept."""
        known, layout = self._layout
        if known is not model:
            layout = RowLayout.of(model)
            self._layout = (model, layout)
        return layout

    def latest(self) -> Any:
        """Return the model with all rows that were acknowledged before the call."""
        return self._model if self.learner is None else self.learner.latest()

    def rows_seen(self, model: AnyModel) -> int | None:
        """Return the number of rows that a model has learned from; None where it does not know."""
        return rows_of(model) if self.learner is None else self.learner.rows_seen

    def described(self) -> dict[str, Any]:
        """Return a description of the predicting model for JSON: system, columns, certificate, progressive errors."""
        model = self.current
        layout = self.layout(model)
        proof = getattr(model, "certificate_", None)
        means = {} if self.drift is None else dict(zip(self.drift.names, self.drift.mean.tolist(), strict=True))
        out: dict[str, Any] = {
            "name": self.name,
            "system": type(model).__name__,
            "parameters": model.get_params(deep=False),
            "target": [one.name for one in layout.targets],
            "columns": [_column(one, means.get(one.name)) for one in layout.columns],
            "classes": getattr(model, "classes_", None),
            "rows_seen": self.rows_seen(model),
            "certificate": None if proof is None else {**own_attributes(proof), "text": str(proof).splitlines()[0]},
            "probabilities": gives_probabilities(model),
            "intervals": "interval" in inspect.signature(model.predict).parameters,
            "learns": self.learns,
            "versions": sorted(self.numbered),
            "progressive_error": None,
        }
        if self.learner is not None:
            out["progressive_error"] = own_attributes(self.learner.progressive)
            out["scores"] = {name: own_attributes(score) for name, score in self.learner.scores().items()}
            out["waiting"] = self.learner.waiting
        return dict(plain(out))

    def remember(self) -> None:
        """Keep a point of the progressive error, where rows came since the last one."""
        if self.learner is None:
            return
        error, seen = self.learner.progressive, self.learner.rows_seen
        if error.rows and (not self.history or self.history[-1][0] != seen):
            self.history.append((seen, error.mean, error.recent))

    def file(self) -> bytes:
        """Return the current model as a model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{self.name}{SUFFIX}")
            storage.save(self.latest(), path)
            return path.read_bytes()

    def publish(self, folder: Path) -> None:
        """Write the model for predictions to a folder, for other processes, where it is another than the last."""
        model = self.current
        if model is not self._published:
            storage.save(model, folder / f"{self.name}{SUFFIX}")
            self._published = model

    def exchange(self, model: AnyModel) -> None:
        """Predict with another model from now on, in a process that does not learn itself."""
        drift = drift_of(model)
        if drift is not None and self.drift is not None and drift.names == self.drift.names:
            drift.recent, drift.rows = self.drift.recent, self.drift.rows
        self._model, self.drift = model, drift

    def replace(self, content: bytes) -> Any:
        """Let the model file in a body take the place of the model, for all requests that begin later; return it."""
        model = _loaded(content)
        before, after = (self.layout(one).targets for one in (self.current, model))
        if self.learns and not can_continue(model):
            raise Refused(422, f"{self.name} is learning, and a {type(model).__name__} cannot")
        if self.learns and after != before:
            raise Refused(422, f"{self.name} is learning, and the new version has another target")
        with self._changing:
            if self.learner is not None:
                self.learner.replace(model)
            else:
                if self.versions is not None:
                    folder = SnapshotFolder(self.versions)
                    if not folder.list():
                        folder.write(self._model, 0)  # to be able to go back to it
                    folder.write(model, 0)
                self._model = model
            self.drift = drift_of(self.current)
        return model

    def snapshots(self) -> list[Snapshot]:
        """Return what there is to roll back to, the oldest first."""
        if self.learner is not None:
            return list(self.learner.snapshots())
        return [] if self.versions is None or not self.versions.is_dir() else SnapshotFolder(self.versions).list()

    def rollback(self, number: int) -> None:
        """Let the model be that of a snapshot again."""
        found = [one for one in self.snapshots() if one.number == number]
        if not found:
            raise Refused(404, f"{self.name} has no snapshot {number}")
        try:
            model = found[0].load()
        except ModelFileError:
            raise Refused(422, f"snapshot {number} of {self.name} is damaged, or gone: choose another") from None
        with self._changing:
            if self.learner is not None:
                self.learner.rollback(found[0])
            else:
                assert self.versions is not None
                SnapshotFolder(self.versions).write(model, 0)
                self._model = model
            self.drift = drift_of(self.current)

    def promote(self, name: str) -> None:
        """Let a challenger and the model change places."""
        if self.learner is None or name not in self.learner.scores() or name == CHAMPION:
            raise Refused(404, f"{self.name} has no challenger of this name")
        with self._changing:
            self.learner.promote(name)
            self.drift = drift_of(self.current)

    def warm_up(self) -> None:
        """Predict a row of zeros, so that the first request waits for no import."""
        model = self.current
        row = as_coded(np.zeros((1, model.n_features_in_)))
        for options in ({}, {"interval": "confidence"}):
            with suppress(AdalineError, ValueError, TypeError):
                model.predict(row, **options)

    def close(self) -> None:
        """Learn from all rows that wait, and end."""
        if self.learner is not None:
            self.learner.close()


def _column(column: RowColumn, mean: float | None) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "levels": list(column.levels),
        "optional": column.optional,
        "mean": mean,
    }


def _loaded(content: bytes) -> Any:
    """Return the model in the bytes of a model file; anything else is refused, and nothing in it is run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "body.adaline")
        path.write_bytes(content)
        try:
            return storage.load(path)
        except ModelFileError as error:
            raise Refused(422, str(error).replace(str(path), "the body")) from None


def serve_models(given: Any, options: LearnOptions) -> dict[str, ServedModel]:
    """Return the models to serve, by name: of a fitted system, a file, a folder, or several of them.

    Parameters
    ----------
    given : a fitted system (called "model"), the path of a model file or of a folder of them, a sequence of paths, or
        a mapping from names to systems or paths.
    options : how they learn.
    """
    found: dict[str, tuple[Any, Path | None, dict[int, Any]]] = {}
    if isinstance(given, Mapping):
        for name, one in given.items():
            if isinstance(one, str | os.PathLike):
                found[check_model_name(name)] = (storage.load(one), Path(one), {})
            else:
                found[check_model_name(name)] = (one, None, {})
    elif isinstance(given, str | os.PathLike):
        found = _in_path(Path(given))
    elif isinstance(given, Sequence):
        for path in given:
            for name, one in _in_path(Path(path)).items():
                if name in found:
                    raise InvalidParameter(f"two models are called {name}: give them different names")
                found[name] = one
    else:
        found["model"] = (given, None, {})
    if not found:
        shown = ", ".join(map(str, given)) if isinstance(given, Sequence) and not isinstance(given, str) else given
        raise InvalidParameter(f"there is no model in {shown}: name a model file, or a folder of *.adaline files")
    several = _names_several(given)
    if options.journal is not None:
        _refuse_other_layout(options.journal, several)
    return {name: _served(name, *one, options, several, len(found) == 1) for name, one in found.items()}


def _names_several(given: Any) -> bool:
    """Return whether what was named may hold several models, now or later: each then has a journal of its own."""
    if isinstance(given, str | os.PathLike):
        return Path(given).is_dir()
    if isinstance(given, Mapping):
        return True
    return isinstance(given, Sequence) and (len(given) > 1 or any(Path(one).is_dir() for one in given))


def _refuse_other_layout(journal: Path, several: bool) -> None:
    """Refuse a folder with journals at another depth than those to be used: rows in them would be left behind."""
    if several and (journal / "journal.sqlite").exists():
        raise InvalidParameter(
            f"{journal} is the journal of one model, and those of several are folders in it, by their names: move what "
            "is in it to a folder of the name of that model"
        )
    if not several and any(journal.glob("*/journal.sqlite")):
        raise InvalidParameter(
            f"{journal} has the journals of several models: name the folder of models, or the journal of this one in it"
        )


def _in_path(path: Path) -> dict[str, tuple[Any, Path | None, dict[int, Any]]]:
    """Return the models of a file or folder: each with the file that it is from, and its versions by number."""
    if not path.is_dir():
        return {check_model_name(path.stem): (storage.load(path), path, {})}
    out: dict[str, tuple[Any, Path | None, dict[int, Any]]] = {}
    for one in sorted(path.iterdir()):
        if one.is_file() and one.suffix == SUFFIX:
            out[check_model_name(one.stem)] = (storage.load(one), one, {})
    for one in sorted(path.iterdir()):
        if not one.is_dir() or one.suffix in (".journal", ".versions"):
            continue
        numbers = {int(file.stem): file for file in one.glob(f"*{SUFFIX}") if file.stem.isdecimal()}
        if numbers:
            if one.name in out:
                raise InvalidParameter(f"{path} has the model {one.name} as a file and as a folder: remove one of them")
            versions = {number: storage.load(numbers[number]) for number in sorted(numbers)}
            out[check_model_name(one.name)] = (versions[max(versions)], one.with_suffix(SUFFIX), versions)
    return out


def _served(
    name: str,
    model: AnyModel,
    path: Path | None,
    numbered: dict[int, Any],
    options: LearnOptions,
    several: bool,
    alone: bool,
) -> ServedModel:
    """Return a model with what it learns by, where it does; one that is served alone must be able to."""
    if not can_predict(model):
        raise InvalidParameter(f"{name}: a {type(model).__name__} predicts nothing")
    if not options.learn and options.journal is None:
        return _unlearning(name, model, path, numbered)
    if not can_continue(model):
        if not alone:
            return _unlearning(name, model, path, numbered)
        raise InvalidParameter(
            f"{name}: a {type(model).__name__} cannot continue from a saved model, so it cannot learn in service"
        )
    journal = options.journal
    if journal is not None and several:
        journal = journal / name
    if journal is None and path is not None:
        journal = path.with_name(f"{name}.journal")
    begun = journal is not None and SnapshotFolder(journal / "snapshots" / CHAMPION, new=False).list()
    learner = Learner(model, journal, queue_rows=options.queue_rows, challengers=options.challengers or {})
    origin = _overruled(name, journal) if begun else None
    return ServedModel(name, model, learner=learner, numbered=numbered, learns=options.learn, origin=origin)


def _unlearning(name: str, model: AnyModel, path: Path | None, numbered: dict[int, Any]) -> ServedModel:
    """Return a model that learns nothing: the last version that was sent, or else that of the file."""
    versions = None if path is None else path.with_name(f"{name}.versions")
    last = SnapshotFolder(versions).latest_good() if versions is not None and versions.is_dir() else None
    if last is None:
        return ServedModel(name, model, versions=versions, numbered=numbered)
    return ServedModel(name, last[1], versions=versions, numbered=numbered, origin=_overruled(name, versions))


def _overruled(name: str, folder: Path | None) -> str:
    return (
        f"{name} is served as {folder} has it, and not from the file that was named: to serve that one, send it by "
        f"PUT /models/{name}, or move the folder away"
    )
