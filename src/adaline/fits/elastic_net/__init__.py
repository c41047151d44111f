"""The elastic net: the fit of a loss under l1 and ridge penalties, along a path of l1 that is cross-validated.

    sum over rows of weight x loss + sum_j penalty_j/2 (unit_j w_j)^2 + l1 sum_j unit_j |w_j|

A machine for all rows and one for each fold, which learns from the other rows, go down the same path, each from its
minimum at the penalty before. A machine that learns from a share of the rows has that share of the penalties, which is
the same penalty of a mean over rows, as glmnet and scikit-learn take it.

    choose     which solver a loss and its rows get
    net        options, the path and the net that are returned, and which gap proves a minimum
    path       machines that go down a path together; the penalty that predicts the rows held out best
    squared    the squared loss, from second moments or products of columns
    smooth     smooth losses of one output, by Newton steps of all machines together
    quantile   quantile and absolute losses, by linear programs
    steps      any smooth loss, by proximal Newton steps of one machine after the other
    stacked    coupled outputs of few rows, by steps of all machines together
    folds, memory    rows held out; what of the rows fits into memory

Squared losses are solved from second moments: one read of the rows, or of wide rows in memory the products of the
columns that matter, gives those of all machines, their gaps and the losses of the rows held out. Other losses, and
columns too many for that, take proximal Newton steps.
"""
