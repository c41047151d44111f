"""Losses: what one row costs, as a function of its output and target. LOSSES lists them by name.

A loss is a row function with value, slope and curvature. A problem (`solvers/smooth/problem.py`) is a loss over a
source with a penalty.

- **Families and links.** A family (`losses/families.py`: Tweedie with all its names, negative binomial, binomial) and a
  link (`links.py`) make a loss (`losses/linked.py`) with observed and expected curvature; where it need not be convex,
  steps begin by Fisher scoring.
- **Activations.** A loss may be taken of g(z) instead of z (`losses/composed.py`). The mean that a loss predicts is an
  activation too (`Loss.response`), so that `losses` lies above `activations`.
- **Offsets** are the last column of a row's target (`losses/offset.py`), so that sources, sums and solvers need no code
  for them.
- **Further derivatives** (`losses/further.py`) of families: how their curvature moves, for Laplace's approximation.
- **Double-double.** Every family and link also has its slope in double-double (`slope_twofold`), for certificates.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
