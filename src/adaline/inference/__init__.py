"""Inference from the sums of a fit, and from its rows where they are given again.

Everything here is a function of fits, names and rows; systems call it in one-line methods. A `LikelihoodFit` has
weights, a root of the inverse information and what the family says; sandwich, profile, influence and intervals take the
scores of rows from its loss. `effects` sees a model as a function from the design to the mean, with exact derivatives
(`MeanModel`).

- **Coordinates.** Cov(w0, w) = A G A' with A A' = (X'X + P)^-1 from the factor of the fit, and G summed over rows in
  the coordinates z = A'(1, x). There the design is orthonormal, so that means of 1e9, unlike units and an
  ill-conditioned design cost no more digits than they cost the fit: a meat matrix in raw columns would lose the square
  of the condition. Leverages are z'z, so that HC2 and HC3 need no second product. Longley's HC3 errors are right to 12
  digits, statsmodels' to 9.
- **Rows again.** A model keeps sums, so that robust errors and influence ask for the rows. They are recognised by their
  weight (number, for precisions) and by their residual sum of squares to 1e-6: the same rows in another order are
  accepted, other rows refused.
- **One reading for all questions.** `with_errors` (`view.py`) reads the rows and returns a view, whose `summary`,
  `test`, `effects` and `predict` share the covariance; the methods of a model make a view and ask it one question. A
  system has `_judge`, which returns its fits with the errors, and `_summarise`, `_test`, `_mean_model` and `_interval`,
  which take these.
- **Which distribution.** z and p of HC and HAC errors are normal, F has N - p denominator degrees of freedom:
  statsmodels' defaults, so that results can be compared; the table's head says t or z.
- **Groups** (`clusters.py`). Scores and leverages of groups are sums over their rows in the same coordinates, so that
  CR2 and CR3 need one read. Clustered errors are CR3 with Student's t and G - 1 degrees of freedom unless said
  otherwise: with 10 groups and a column of groups, intervals of 95 % cover 96 % in simulations; those of CR1
  with the normal distribution cover 84 %. A summary warns of few groups, and of a group that determines a coefficient
  alone. For few groups `wild.py` has the wild cluster bootstrap, whose draws need the scores and leverages of groups,
  no rows: it judges coefficients and hypotheses by other means than a distribution, and has no effects or means.
- **Leverage 1** (a dummy that only one row has): HC2 and HC3 divide by zero there and are refused, naming the row;
  measures of influence are NaN there.
- **Penalties.** Classical errors of ridge are posterior ones; robust ones are sampling errors of the shrunken estimate,
  without its bias; the notes say so. Tests, anova and influence refuse a penalised fit.
- **Precision weights.** The sums are the same; the number of positive weights and the sum of their logarithms are kept
  beside them, added and subtracted with them. Frequencies and precisions never merge.
- **Terms.** A test of a term assumes that certain other terms are zero. It measures how much the term adds to their
  Wald statistic, computed from one triangle without cancellation (`covariance.quadratic`). So types 1, 2 and 3 and all
  kinds of errors share one formula, and none needs the rows. Type 3 tests effects that add up to zero, for any coding
  of categories (`terms.py`).
- **Marginal means** over a grid are linear in the coefficients until they are brought to the scale of the answer, those
  over rows are not. The chance of the largest |t| is an average over directions, which is deterministic and has no
  error in the tail (`simultaneous.py`).
- **Hypotheses as text** are parsed in rational arithmetic and by column names (longest first, backquotes for any name);
  nothing is evaluated. A hypothesis about directions the rows do not span is refused, not tested by minimum norm.

Limits: `anova` assumes that models without column names are nested. HAC errors of streamed rows hold some numbers of
every row, and are refused beyond 2^26 rows.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
