"""Sums: statistics of rows that merge, computed block by block in threads, out of core or on a device."""

from adaline.lazy import Registry, lazily

SUMS = Registry(
    __name__,
    "Moments ClassMoments Triangle Residual LeaveOneOut Scores GroupScores WrongRows WrongRivals ErrorCounts Spread "
    "Objective HessianProduct FirthScore Clusters MixtureMoments Targets MachineObjective CurvatureDiagonal "
    "ThinnedCurvature ClassWeights JointSum FamilySums NullScore Densities ShapeScore OrdinalObjective OrdinalProduct "
    "Ranks ResidualTotals FarthestRow TwofoldObjective CurvatureChange",
)

__getattr__, __dir__, __all__ = lazily(__name__)
