"""Model selection: the error on new rows, by formula or by cross-validation, and its curves.

`select` scores candidates by their error on new rows, `learning_curve` one system by its number of rows.

- **Formulas.** Where predictions are linear in the targets, leave-one-out is r / (1 - h), one fit and one pass a
  candidate, from the factor of the fit (`inference/influence.py`), so that it has the digits of the fit: refits agree
  to 1e-9. A basis or `standardize` that learns from X is that of all rows, as in every such formula; `penalty="auto"`
  learns from the targets and is cross-validated instead. A row of leverage 1 has no such error; where that, or wide
  rows without a factor, leaves no candidate, `method="auto"` uses folds.
- **Folds.** Arrays are cut by shuffled row, class by class; sources by the hash of the row number; signals into
  stretches. Sources and signals use weights of zero. Losses are of rows, so that any weighting is a mean; other scores
  are available for arrays only.
- **Standard errors** are over rows for leave-one-out (n is the sum of frequencies, or the number of positive
  precisions), over folds otherwise. For the rule of one standard error the simplest candidate has the smallest trace of
  the hat matrix where all candidates know it, else the order given decides, large penalties first.
- **Penalties** of one Ridge share no sums: `LeaveOneOut` would score all of them in two passes, but in the eigenbasis
  of the Gram matrix, which costs digits on ill-conditioned columns.
- **Failures.** A candidate that fails, and the warnings of fits, are lines of the table; only the fit of the choice
  warns.

Cross-validation at once
------------------------
`selection/cross_validation.py` asks a system for the fit of all rows and those without each fold together, and refits
systems that have no such method, and subclasses with a `fit` of their own.

- **Closed forms** (`_sum_folds`, `systems/families/folds.py`): `FoldSums` gathers the sums of every fold in one read,
  `all_but_one` merges prefixes and suffixes, nothing is subtracted, and `_fit_sums` solves; `shared` holds the sums of
  systems that have the same. If fewer than 6 digits are proven, or the status is not "solved", the rows are fitted.
  Learning curves merge parts that grow (`running`).
- **Systems that iterate** (`_fit_folds`, `systems/families/near.py`) start from the fit of all rows, in its metric.
- **Budget.** `comparison/budget.py` bounds the rows of systems that learn row by row, or take many passes, in a
  comparison: in numbers of X, not in time, so that results do not depend on the machine.
"""
