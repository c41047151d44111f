"""Coordinate descent on second moments, for squared losses under l1 and ridge penalties.

`quadratics.py` holds the second moments of all rows and of those without each fold; where there are many columns, only
the rows of the matrix that are needed are formed. `lasso.py` minimises one quadratic under an l1 penalty, `corners.py`
groups and other penalties with corners, `positive.py` under the constraint that coefficients are not negative.
`newton_nets.py` takes proximal Newton steps for other losses, `quantile_nets.py` solves linear programs of the columns
with nonzero coefficients.
"""
