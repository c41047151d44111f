"""The elastic net: the fit of a loss under l1 and ridge penalties, along a path of l1 that is cross-validated.

    sum over rows of weight x loss + sum_j penalty_j/2 (unit_j w_j)^2 + l1 sum_j unit_j |w_j|

A machine for all rows, and one for each fold that learns from the other rows, follow the same path, each starting from
its minimum at the previous penalty. A machine that learns from a share of the rows gets that share of the penalties:
relative to the mean loss, as glmnet and scikit-learn state it, the penalty is the same.

    choose     which solver a loss and its rows get
    net        options, the path and the net that are returned, and which gap proves a minimum
    path       machines that follow a path together; the penalty that predicts held-out rows best
    squared    the squared loss, from second moments or products of columns
    smooth     smooth losses of one output, by Newton steps of all machines together
    quantile   quantile and absolute losses, by linear programs
    steps      any smooth loss, by proximal Newton steps of one machine after the other
    stacked    coupled outputs of few rows, by steps of all machines together
    folds, memory    held-out rows; which products and copies fit into memory

Squared losses are solved from second moments. One read of the rows gives those of all machines, their gaps and the
losses of the held-out rows; of wide rows in memory, only the products of relevant columns are formed. Other losses, and
rows with too many columns for that, take proximal Newton steps.
"""
