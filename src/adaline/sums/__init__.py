"""Sums: statistics of rows that merge, computed block by block in threads, out of core or on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import Registry, lazily

if TYPE_CHECKING:
    from adaline.sums.base import JointSum, Sum
    from adaline.sums.classes import ClassMoments
    from adaline.sums.clusters import Centres, Clusters
    from adaline.sums.curvature import CurvatureDiagonal, ThinnedCurvature, Thinning
    from adaline.sums.family import Densities, FamilyPoint, FamilySums, NullScore, ShapeScore
    from adaline.sums.firth import FirthScore, Prior
    from adaline.sums.folds import FoldSums, all_but_one, running
    from adaline.sums.leave_one_out import LeaveOneOut, Ridges
    from adaline.sums.machine import MachineObjective, MachinePoint
    from adaline.sums.mixture import Components, MixtureMoments
    from adaline.sums.moments import Moments
    from adaline.sums.objective import HessianProduct, Objective, Point, View
    from adaline.sums.ordinal import OrdinalObjective, OrdinalProduct
    from adaline.sums.residual import Residual, Theta
    from adaline.sums.sample import RowSample
    from adaline.sums.scores import FittedDesign, FittedLikelihood, GroupScores, Scores
    from adaline.sums.spread import Spread
    from adaline.sums.targets import ClassWeights, Targets
    from adaline.sums.triangle import Triangle
    from adaline.sums.wrong_rows import ErrorCounts, WrongRows

SUMS = Registry(
    __name__,
    "Moments ClassMoments Triangle Residual LeaveOneOut Scores GroupScores WrongRows ErrorCounts Spread Objective "
    "HessianProduct FirthScore Clusters MixtureMoments Targets MachineObjective CurvatureDiagonal ThinnedCurvature "
    "ClassWeights JointSum FamilySums NullScore Densities ShapeScore OrdinalObjective OrdinalProduct",
)

__all__ = [
    "SUMS",
    "Centres",
    "ClassMoments",
    "ClassWeights",
    "Clusters",
    "Components",
    "CurvatureDiagonal",
    "Densities",
    "ErrorCounts",
    "FamilyPoint",
    "FamilySums",
    "FirthScore",
    "FittedDesign",
    "FittedLikelihood",
    "FoldSums",
    "GroupScores",
    "HessianProduct",
    "JointSum",
    "LeaveOneOut",
    "MachineObjective",
    "MachinePoint",
    "MixtureMoments",
    "Moments",
    "NullScore",
    "Objective",
    "OrdinalObjective",
    "OrdinalProduct",
    "Point",
    "Prior",
    "Residual",
    "Ridges",
    "RowSample",
    "Scores",
    "ShapeScore",
    "Spread",
    "Sum",
    "Targets",
    "Theta",
    "ThinnedCurvature",
    "Thinning",
    "Triangle",
    "View",
    "WrongRows",
    "all_but_one",
    "running",
]

__getattr__ = lazily(
    __name__,
    {
        "base": "JointSum Sum",
        "classes": "ClassMoments",
        "clusters": "Centres Clusters",
        "curvature": "CurvatureDiagonal ThinnedCurvature Thinning",
        "family": "Densities FamilyPoint FamilySums NullScore ShapeScore",
        "firth": "FirthScore Prior",
        "folds": "FoldSums all_but_one running",
        "leave_one_out": "LeaveOneOut Ridges",
        "machine": "MachineObjective MachinePoint",
        "mixture": "Components MixtureMoments",
        "moments": "Moments",
        "objective": "HessianProduct Objective Point View",
        "ordinal": "OrdinalObjective OrdinalProduct",
        "residual": "Residual Theta",
        "sample": "RowSample",
        "scores": "FittedDesign FittedLikelihood GroupScores Scores",
        "spread": "Spread",
        "targets": "ClassWeights Targets",
        "triangle": "Triangle",
        "wrong_rows": "ErrorCounts WrongRows",
    },
)
