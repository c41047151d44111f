"""Separation: can a hyperplane separate the classes? Decided, with a proof either way.

The question is asked of a growing set of rows: least squares first, then the point of the hull of t (1, x) nearest to
zero. A plane is checked on all rows by floats with an error bound, and by integers where that does not decide; a
combination that proves there is no plane is solved exactly on its at most D + 2 rows. "Quasi" needs no perturbation:
the span of an overlap is divided out and the search continues from what is left of the first direction. Which rows lie
in the span is decided by one direction orthogonal to it, drawn at random, and by integers where the product is zero.
`verify()` repeats the checks on the rows.

A perceptron whose fit ends without a clean epoch asks the same question and reports either that no plane exists or that
it had too few epochs. It stops at the first overlap, as deciding between quasi and none can take seconds, and asks only
up to 2^22 numbers and 64 coordinates: tenths of a second.

A fit of a likelihood checks separation on its way: `fits/separation.py`.
"""
