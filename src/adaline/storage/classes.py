"""The classes that a model file may hold: a closed list.

A name in a file is looked up in it and never imported. A class that is not listed cannot be stored, and the error says
where to enter it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from adaline.basis import BASES, Custom
from adaline.block import Shape
from adaline.coding import Coding, Column, Factor, Term
from adaline.penalties import RidgePenalty
from adaline.proof.robust import RobustFit, StandardErrors
from adaline.proof.sample import Counted
from adaline.results import Certificate, Solution
from adaline.scans import SCANS, Schedule
from adaline.solvers.dependence import Dependence
from adaline.solvers.factor import CholeskyFactor, Frame, KeptFactor, SpectralFactor
from adaline.solvers.fit import Fit
from adaline.solvers.likelihood import LikelihoodFit
from adaline.solvers.pocket import Best
from adaline.sources.standardized import Standard
from adaline.sums import ClassMoments, Components, Moments, View
from adaline.systems import SYSTEMS
from adaline.systems.adaptation import Adaptation
from adaline.systems.recording import Recording
from adaline.systems.separation import Separation

_FACTOR = ("frame", "length", "alive", "condition", "rank", "contraction", "decided")

RECORDS: tuple[type[Any], ...] = (
    *(Adaptation, Certificate, Counted, Fit, Frame, Recording, RidgePenalty, Shape, Solution),
    *(RobustFit, StandardErrors),
    *(Coding, Column, Factor, Term),
    *(Schedule, Best, Dependence, LikelihoodFit, Separation, Standard),
    *(Components, View),
)
"""Dataclasses and named tuples: stored by their fields, made again by their constructor."""

PARTS: dict[type[Any], tuple[str, ...]] = {
    Moments: ("shape", "buffer"),
    ClassMoments: ("parts",),
    CholeskyFactor: (*_FACTOR, "r"),
    KeptFactor: (*_FACTOR, "r", "whole"),
    SpectralFactor: (*_FACTOR, "v", "s", "raw", "reach", "null", "size"),
    **{cls: tuple(n for n in vars(cls.start(Shape(1, 1))) if n != "_native") for cls in SCANS.values()},
}
"""Other classes with the attributes that make them up; cached properties are formed again from these."""

FIELDS: dict[type[Any], tuple[str, ...]] = {
    **{cls: getattr(cls, "_fields", None) or tuple(f.name for f in dataclasses.fields(cls)) for cls in RECORDS},
    **PARTS,
}
"""All of them, with the names of what is stored."""

NESTED: dict[str, dict[str, type[Any]]] = {
    "system": SYSTEMS,
    "basis": {name: cls for name, cls in BASES.items() if cls is not Custom},
}
"""What can stand inside a system: stored by its arguments and what it has learned."""

CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in FIELDS}
