"""Scans: rules that process rows in their order, each with a native loop and a readable reference.

A scan holds theta, (K, 1 + D) with the intercept first, and updates it in place, row by row; the textbook's loop stands
beside each rule and is its oracle in the tests.

- **Chunks.** A given rate depends on the step number alone, `rate="auto"` on the rows before it too, so that cutting
  the rows into chunks changes no bit. An order of rows is followed by index, without a copy.
- **Tallies** that cost nothing (progressive loss, sum and largest of ||x||^2, mistakes, smallest margin) give the
  certificate, the bound (5.20) and the perceptron bound.
- **Divergence.** Rules whose steps can be too large keep a copy of theta every so many steps. A step that is not
  finite, or an exploding error, ends the scan with the weights kept; it can continue from them at another rate.
- **Weights.** The weight of a row multiplies its rate: scans are exempt from the law that a weight of 2 is the row
  twice.

Native loops
------------
The native scan (`native/scans.hpp`) is one loop for each layout: dense rows, and sparse ones with short or long
indices. A rule (`native/rules.hpp`) sees the outputs of a row, not the row, and is compiled once. Float32 and several
outputs need no loops of their own: a row is first copied as doubles, with its constant 1. One output at a constant rate
without weights, the common case, has loops of its own for kinds of rules and rows (`native/quick.hpp`); they keep the
tallies and, where there are few columns, the weights in registers.

Automatic rates
---------------
`rate="auto"` (`scans/adaptive.py`) does not depend on the units of the columns: with up to 128 columns it steps through
the square root of the inverse second moments (recursive least squares); beyond that, where rows are dense, through
running scales of the columns. Sigmoids begin as straight lines, continue with the convex log-likelihood, and end with
their own squared error, which has many minima where rows are nearly separable: after 20 epochs (E - best)/(E of a
constant - best) is 0.042 on sonar and 0.037 on ionosphere.

Sparse rows
-----------
Sparse rows of more than 128 columns, and `OnlineLogistic`, take steps of each coordinate in its
own units (`scans/coordinate.py`): AdaGrad on x / max |x|. Each step follows the flow of the loss, so that none passes
its target and no copy of the weights is needed. Penalties follow FTRL-proximal, once for all rows and once more with
every further epoch, so that many epochs approach the stated objective. Sigmoids follow their log-likelihood in the
first epoch and their squared error in later ones. `average=True` predicts by the mean of the weights after each row,
computed from sums over the visited columns. Only the entries of a row are visited, and the state of a column fits in
one cache line. The result is no maximum of the likelihood: the certificate says "ongoing". A weight of 2 is nearly the
row twice.
"""

from adaline.lazy import Registry, lazily

SCANS = Registry(
    __name__, "LMSRule RLSRule PerceptronRule KeslerRule SigmoidRule SoftmaxRule AdaptiveRule CoordinateRule", "Rule"
)

__getattr__, __dir__, __all__ = lazily(__name__)
