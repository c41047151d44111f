"""Pipelines of scikit-learn, told from systems without importing scikit-learn's steps, which takes its time."""

from __future__ import annotations

from typing import Any

from adaline.fitted import AnyModel


def of_scikit_learn(kind: type[Any]) -> bool:
    """Whether a class is one of scikit-learn's."""
    return kind.__module__.startswith("sklearn.")


def is_pipeline(model: AnyModel) -> bool:
    """Whether a model is a Pipeline of scikit-learn, and not of a class derived from it."""
    return type(model).__module__ == "sklearn.pipeline" and type(model).__name__ == "Pipeline"


def real_steps(pipeline: Any) -> list[Any]:
    """Return the steps that do something."""
    return [one for _, one in pipeline.steps if one is not None and one != "passthrough"]


def flat_steps(step: AnyModel) -> list[Any]:
    """Return the steps of a pipeline in their order, those of pipelines inside it too."""
    return [one for inner in real_steps(step) for one in flat_steps(inner)] if is_pipeline(step) else [step]


def first_step(step: AnyModel) -> Any:
    """Return what takes the rows first: the first step of a pipeline that does something, or the step itself."""
    return next(map(first_step, real_steps(step)), None) if is_pipeline(step) else step


def last_step(step: AnyModel) -> Any:
    """Return what says the last word: the last step of a pipeline that does something, or the step itself."""
    return next(map(last_step, reversed(real_steps(step))), None) if is_pipeline(step) else step
