"""A flavour of MLflow: `log_model`, `save_model` and `load_model`, and models that `mlflow.pyfunc` and its servers run.

What is stored is the model file of `adaline.save`, which runs no code when it is loaded. This is the one module that
imports mlflow (the extra `mlflow`, which installs mlflow-skinny).
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
from mlflow import pyfunc
from mlflow.models import Model, ModelInputExample, ModelSignature
from mlflow.models.model import ModelInfo
from mlflow.models.utils import _save_example
from mlflow.tracking.artifact_utils import _download_artifact_from_uri
from mlflow.types import ColSpec, DataType, Schema, TensorSpec

from adaline import __version__, storage
from adaline.arrays import Array
from adaline.fitted import AnyModel, has_classes
from adaline.input.system import System, columns_on
from adaline.storage.pipelines import first_step, is_pipeline, last_step
from adaline.systems.families.unsupervised import UnsupervisedSystem

FLAVOR_NAME, FILE = "adaline", "model.adaline"
TYPES = {"number": DataType.double, "boolean": DataType.boolean, "date": DataType.datetime}


def log_model(
    model: AnyModel,
    name: str = "model",
    *,
    signature: ModelSignature | None = None,
    input_example: ModelInputExample | None = None,
    registered_model_name: str | None = None,
    **more: object,
) -> ModelInfo:
    """Log a fitted model to the current run of MLflow, with a signature of its own.

    Parameters
    ----------
    model : a fitted system, or a Pipeline that `adaline.save` takes.
    name : of the logged model.
    signature : of inputs and outputs; None makes one of the columns of the fit.
    input_example : rows to show beside it.
    registered_model_name : under which the model registry gets a new version.
    more : other arguments of `mlflow.models.Model.log`, such as metadata.

    Examples
    --------
    >>> import mlflow, adaline.mlflow                                                    # doctest: +SKIP
    >>> with mlflow.start_run():                                                         # doctest: +SKIP
    ...     adaline.mlflow.log_model(model, "mass")
    """
    given: dict[str, Any] = {**more, "signature": signature, "input_example": input_example, "model": model}
    flavor = sys.modules[__name__]
    logged: ModelInfo = Model.log(None, flavor, name=name, registered_model_name=registered_model_name, **given)
    return logged


def save_model(
    model: AnyModel,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Model | None = None,
    signature: ModelSignature | None = None,
    input_example: ModelInputExample | None = None,
    metadata: dict[str, object] | None = None,
) -> None:
    """Save a fitted model as a folder in MLflow's format.

    Parameters
    ----------
    model, signature, input_example : as for `log_model`.
    path : of the folder, which must be new or empty.
    mlflow_model : the description to complete, where MLflow has begun one.
    metadata : texts and numbers to store beside the model.
    """
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    storage.save(model, folder / FILE)
    described = Model() if mlflow_model is None else mlflow_model
    described.signature = described.signature or signature or signature_of(model)
    if metadata is not None:
        described.metadata = metadata
    if input_example is not None:
        _save_example(described, input_example, str(folder))
    (folder / "requirements.txt").write_text(f"adaline-learn=={__version__}\nmlflow=={mlflow.__version__}\npandas\n")
    environment = f"python: {platform.python_version()}\ndependencies:\n- -r requirements.txt\n"
    (folder / "python_env.yaml").write_text(environment)
    pyfunc.add_to_model(described, loader_module="adaline.mlflow", data=FILE, python_env="python_env.yaml")
    described.add_flavor(FLAVOR_NAME, adaline_version=__version__, data=FILE, system=type(last_step(model)).__name__)
    described.save(str(folder / "MLmodel"))


def load_model(model_uri: str | os.PathLike[str]) -> AnyModel:
    """Return the model that was logged or saved, as it was: "runs:/...", "models:/...", or a folder."""
    folder = Path(_download_artifact_from_uri(str(model_uri)))
    flavor = Model.load(str(folder)).flavors[FLAVOR_NAME]
    return storage.load(folder / flavor["data"])


def signature_of(model: AnyModel) -> ModelSignature:
    """Return the signature of a fitted model: the columns of the fit by name and type, and what it predicts."""
    system, first = last_step(model), first_step(model)
    coding = columns_on(first).coding if isinstance(first, System) else None
    names = getattr(first, "feature_names_in_", None)
    inputs: list[ColSpec | TensorSpec] | None
    if coding is not None and coding.terms:
        inputs = [ColSpec(_type_of(one), one.name) for one in coding.columns]
    elif names is not None and not is_pipeline(model):
        inputs = [ColSpec(DataType.double, str(name)) for name in names]
    elif names is not None:
        inputs = None  # the types of raw columns are known to the steps alone
    else:
        inputs = [TensorSpec(np.dtype(np.float64), (-1, int(first.n_features_in_)))]
    return ModelSignature(None if inputs is None else Schema(inputs), Schema([_prediction(system)]))


def _type_of(column: Any) -> DataType:
    if column.kind in TYPES:
        return TYPES[column.kind]
    numbers = bool(column.levels) and all(type(one) is int for one in column.levels)
    return DataType.long if numbers else DataType.string


def _prediction(system: AnyModel) -> TensorSpec:
    if has_classes(system):
        labels = np.asarray(system.classes_)
        return TensorSpec(np.dtype(str) if labels.dtype.kind in "OU" else labels.dtype, (-1,))
    if isinstance(system, UnsupervisedSystem):
        return TensorSpec(np.dtype(np.int64), (-1,))
    shape = np.shape(system.coef_)
    return TensorSpec(np.dtype(np.float64), (-1,) if len(shape) == 1 else (-1, shape[0]))


class Predictor:
    """What `mlflow.pyfunc` calls."""

    def __init__(self, model: AnyModel) -> None:
        self.model = model

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Array:
        """Return the predictions of rows, a frame or an array."""
        return np.asarray(self.model.predict(rows))


def _load_pyfunc(path: str) -> Predictor:
    return Predictor(storage.load(path))
