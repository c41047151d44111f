"""Model files: a fitted system in one file, to the bit, and no code.

The container (see `adaline.storage.container`) holds the arrays of the model as tensors, and a JSON header with

    schema        version of this layout, a whole number: files of it and of those that `old_schemas` knows are read
    adaline       version of the package that wrote it;   created: when
    system        name in SYSTEMS or UNSUPERVISED;        parameters: its constructor arguments
                  or Pipeline, of scikit-learn (see `adaline.storage.steps`), all of which is in `state`
    certificate, columns, classes: for the reader; the model is made from `state`
    state         what fit has learned, the fields of the state of the system, as trees (see `adaline.storage.tree`)
                  that refer to the tensors by name
    data, checksum

The checksums detect accidents. Against malice, nothing in a file can run: names are looked up in closed lists, never
imported. Constructor arguments and fields with a default that a later version adds have it in models of older files;
every other change of layout is a new schema. Files that are older than all known schemas, or newer, are refused with
what to do.
"""

from __future__ import annotations

import os
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import numpy as np

from adaline import __version__
from adaline.basis import Basis
from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, NotFittedError
from adaline.fitted import AnyModel, check_is_fitted
from adaline.lazy import sklearn
from adaline.results import Certificate
from adaline.storage.checks import check_model
from adaline.storage.container import AGAIN, BROKEN, SCHEMA, Tensors, read, read_head, refuse, write
from adaline.storage.fields import KNOWN
from adaline.storage.old_schemas import Schema6
from adaline.storage.pipelines import first_step, is_pipeline, last_step, of_scikit_learn
from adaline.storage.tree import CRITERIA, FileLayout, decode, encode, parts_of
from adaline.systems import CUSTOM, SYSTEMS, LogisticRegression
from adaline.systems.online_alias import with_present_name

PLAIN = ("schema", "adaline", "created", "system", "columns", "classes")
TREES = ("parameters", "certificate", "state")


def save(model: AnyModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted system or pipeline to one file, to the bit; an existing one is replaced when the new is complete.

    The file holds what `predict`, `partial_fit`, `merge`, `forget` and inference need: sums and coefficients, no rows
    (but for the last samples of a recording in progress). Arrays on a device are brought to the host. Settings of
    scikit-learn: that of `set_output` is kept, requests for metadata are not. Attributes of your own are refused.

    A Pipeline of scikit-learn is stored with all its steps where these are known: StandardScaler, MinMaxScaler,
    MaxAbsScaler, RobustScaler, Normalizer, Binarizer, SimpleImputer, OneHotEncoder and OrdinalEncoder without
    infrequent categories, PolynomialFeatures, ColumnTransformer (columns by name, index, slice, mask or
    make_column_selector), pipelines inside it, bases and systems of adaline. Others are refused by name: make their
    columns before the pipeline.

    Parameters
    ----------
    model : a fitted system of adaline, or a fitted Pipeline.
    path : name of the file; `.adaline` is a good ending, any will do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from adaline import LinearRegression
    >>> from adaline.storage import load, save
    >>> model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "line.adaline"
    ...     save(model, path)
    ...     again = load(path).partial_fit([[5.0]], [4.0])
    >>> bool(again.coef_ == model.partial_fit([[5.0]], [4.0]).coef_)
    True
    """
    check_storable(model)
    model = with_present_name(model) if type(model) is LogisticRegression else model
    parameters, state = parts_of(model)
    tensors: Tensors = {}
    cls: type[Any] = type(model)
    last = last_step(model)
    if is_pipeline(model):
        parameters = {"steps": {name: str(step) for name, step in model.steps}}  # for the reader
    head = {
        "schema": SCHEMA,
        "adaline": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": cls.__name__,
        "parameters": encode(parameters),
        "certificate": encode(_certificate_fields(getattr(last, "certificate_", None))),
        **encode({"columns": _listed(first_step(model), "feature_names_in_"), "classes": _listed(last, "classes_")}),
        "state": encode(state, tensors),
    }
    try:
        _made(cls, head, tensors)
    except (*BROKEN, AdalineError) as error:
        raise InvalidData(f"cannot store this {cls.__name__}, as it could not be loaded again: {error}") from None
    write(path, head, tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the system that a model file holds, equal to the bit to the one saved. No code in a file is ever run.

    A pipeline is one of scikit-learn's own objects again. It may have been saved under another version of scikit-learn:
    then it works, or the error names the version to install.

    Parameters
    ----------
    path : a file written by `save`. Anything else ends in a ModelFileError that says what it is.

    Examples
    --------
    >>> from adaline.storage import load
    >>> load("nowhere.adaline")
    Traceback (most recent call last):
        ...
    adaline.errors.ModelFileError: nowhere.adaline: there is no such file; adaline.save and adaline fit -o write one
    """
    head, tensors = read(path)
    cls = _system(path, head)
    try:
        return _made(cls, head, tensors)
    except (*BROKEN, AdalineError) as error:
        refuse(path, f"does not describe a fitted {cls.__name__}: {error}", AGAIN)


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says about itself, as plain Python, without reading the data.

    Returns
    -------
    dict with `schema`, `adaline` (version that wrote it), `created`, `system`, `parameters`, `certificate`, `columns`
        and `classes` (None where there are none). Arrays are lists, systems and bases as parameters the text that makes
        them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from adaline import Ridge
    >>> from adaline.storage import read_header, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Ridge(penalty=0.5).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]), pathlib.Path(folder) / "m")
    ...     header = read_header(pathlib.Path(folder) / "m")
    >>> header["system"], header["parameters"]["penalty"], header["certificate"]["status"]
    ('Ridge', 0.5, 'solved')
    """
    head = read_head(path)
    _system(path, head)
    try:
        trees = {name: _plain(decode(head[name], layout=_layout(head))) for name in TREES[:-1]}
        return {**_plain(decode({name: head[name] for name in PLAIN})), **trees}
    except (*BROKEN, AdalineError) as error:
        refuse(path, f"has a header that cannot be read: {error}", AGAIN)


def check_storable(model: AnyModel) -> None:
    """Refuse what is not a fitted system of the registry."""
    kind: type[Any] = type(model)
    if CUSTOM.get(kind.__name__) is kind:
        raise InvalidType(
            f"{kind.__name__} is made of Python code, and a file holds numbers and text, never code: pickle the model"
        )
    if not is_pipeline(model) and KNOWN.get(kind.__name__) is not kind:
        raise InvalidType(f"{kind.__name__} is not a system of adaline, nor a Pipeline: {', '.join(KNOWN)}")
    if is_pipeline(model):
        from adaline.storage.steps import refuse_unknown

        refuse_unknown(model)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InvalidParameter(
            f"this {kind.__name__} is not fitted: there is nothing to store. Fit it first."
        ) from None


def _made(cls: type[Any], head: dict[str, Any], tensors: Tensors) -> Any:
    """Return the system that a header and tensors describe, checked."""
    if of_scikit_learn(cls):
        return _pipeline(cls, head, tensors)
    layout = _layout(head)
    model = layout.system(cls, decode(head["parameters"], layout=layout), decode(head["state"], tensors, layout))
    check_model(model)
    return model


def _layout(head: dict[str, Any]) -> FileLayout:
    return FileLayout() if head["schema"] == SCHEMA else Schema6()


def _pipeline(cls: type[Any], head: dict[str, Any], tensors: Tensors) -> Any:
    """Return the pipeline that a header and tensors describe, checked; the version it is of is named on error."""
    from adaline.storage.steps import SKLEARN, VERSION, check_pipeline

    version = head["state"].get(VERSION)
    try:
        layout = _layout(head)
        pipeline = layout.system(cls, {}, decode(head["state"], tensors, layout))
        check_pipeline(pipeline)
    except BROKEN as error:
        if version == SKLEARN:
            raise
        known = f"it was saved with scikit-learn {str(version)[:40]}, and this is {SKLEARN}: install that version"
        raise ValueError(f"{error} ({known})") from None
    return pipeline


def _system(path: Any, head: dict[str, Any]) -> type[Any]:
    """Return the class that a header names, from the registry and nowhere else."""
    if set(head) != {*PLAIN, *TREES, "data"}:
        refuse(path, "has a header with other fields than those of a model", AGAIN)
    name = head["system"]
    if name == "Pipeline":
        found: type[Any] = sklearn.pipeline.Pipeline
        return found
    if not isinstance(name, str) or name not in KNOWN:
        refuse(
            path,
            f"holds a system that adaline {__version__} does not know: {str(name)[:40]!r}",
            f"It was written by adaline {str(head['adaline'])[:40]}: install that version or a newer one.",
        )
    return KNOWN[name]


def _listed(model: AnyModel, name: str) -> list[Any] | None:
    values = getattr(model, name, None)
    return None if values is None else np.asarray(values).tolist()


def _certificate_fields(proof: Certificate | None) -> dict[str, Any]:
    """Return a certificate for the header: numbers, and the label of its status; nothing of a pipeline without one."""
    if proof is None:
        return {}
    return {**{field.name: getattr(proof, field.name) for field in fields(proof)}, "status": str(proof.status)}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    known = type(value) in SYSTEMS.values() or type(value) in CRITERIA or isinstance(value, Basis)
    return repr(value) if known else value
