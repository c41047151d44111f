"""Effects of the levels of columns, absorbed: projected out of columns and targets before they are fitted.

The result of the projection is a source in memory, which the solver of least squares takes as any other; the degrees of
freedom are part of the trace of the fit.

- **Projection.** The largest column of levels is eliminated by means, the others by conjugate gradients, preconditioned
  by their counts, and after 30 steps on two columns by an approximate Cholesky factor of the graph of levels. Rows that
  share both levels are one row of their joint weight to both.
- **Prediction.** Effects are a known part of the output, as an offset is.
- **Poisson regression** takes Newton steps of that kind, then poses the problem with projected columns and an offset to
  the usual driver. Separated rows (`solvers/absorb/separation.py`) are left out first: by strong components where two
  columns of levels separate them, exactly, else by the iterative rectifier. Levels without a remaining row have an
  effect of minus infinity; levels that separate rows jointly have a direction each, whose sum over a row decides
  whether its mean is zero.

Limits: absorbed effects are fitted from all rows in memory: no `partial_fit`, `merge`, `select` or `compare`; no
leverages, so no HC2 to HC4, influence or intervals. `Ridge` and `ElasticNet` absorb at a given penalty only. Three and
more columns whose levels are connected by few rows may end as not converged.
"""
