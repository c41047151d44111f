"""Bounds that are proved to contain the exact solution for the given float64 numbers, every rounding error included.

| file | what it proves |
|---|---|
| `rounding.py` | a-priori bounds on rounding errors; float64 ends of intervals, rounded outwards |
| `preconditioner.py` | a matrix T with || I - T'(X'WX + P)T || < 1: the solution is unique |
| `linear.py` | how far the solution is from a point, by the gradient there; bounds on outputs |
| `least_squares.py` | the gradient of least squares, by residuals in double-double |
| `likelihood.py` | a ball that has the minimum of a likelihood in it, and the gradient in double-double |
| `softmax.py` | the same for softmax, of all classes at once |
| `enclosure.py` | what `model.enclose` returns |
| `proof.py` | the proof as a file |
| `checker.py` | checks such a file with rational numbers, and nothing of this package |

The guide states the theorem, with its proof and what it rests on.

Decisions
---------
- **Norms, not interval arithmetic.** Every bound is a sum of nonnegative float64 numbers, computed as usual and raised
  by a factor that covers its own rounding. No rounding mode is switched; the cost is that of the sums.
- **T on both sides.** One norm of I - T'AT serves all coefficients, and the errors of residuals pass through X T, which
  is nearly orthonormal: they are not multiplied by the condition squared.
- **The rows, once they are nearly orthonormal.** Where the moments of the rows prove nothing, those of mapped rows do.
  NIST's Filip (11 columns, condition 4e9 when centred and scaled) has intervals of one unit in the last place.
- **Cost.** 1e6 rows x 20 columns take 1.3 to 2 times as long as the fit: one pass of moments, one of residuals.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
