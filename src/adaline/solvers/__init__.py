"""Solvers: they ask a source for sums and do small dense algebra in between.

Rows themselves are read by `solvers/epochs`, where their order counts, and by solvers of small problems in memory
(`smooth/stacked.py`, `coordinates/newton_nets.py`, `robust/row_residuals.py`).

| folder | solves |
|---|---|
| `solvers/least_squares` | least squares and ridge |
| `solvers/smooth` | smooth objectives: likelihoods and losses |
| `solvers/coordinates` | penalties with corners, on second moments |
| `solvers/robust` | M-estimates and quantiles |
| `solvers/epochs` | scans over several epochs |
| `solvers/clusters` | k-means and mixtures |
| `solvers/absorb` | fixed effects, projected out |

SciPy's LAPACK holds Python's lock, for 3.8 s in a Cholesky factor of 1,500 columns on a busy machine, during which no
other thread can act on a signal; `solvers/lapack.py` calls the same routines without it.
"""
