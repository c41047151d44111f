"""Comparison: every system that suits a target, side by side, and what a user should know about the data.

`compare` reads the rows into memory, at most 2^26 numbers, and a random sample beyond (`comparison/table.py`,
`comparison/open_data.py`). It cross-validates the systems (`selection/cross_validation.py`) within a budget
(`comparison/budget.py`), reports what is unusual in the data (`comparison/findings.py`, `comparison/suspects.py`), and
recommends a system (`comparison/recommendation.py`). The report is part of `comparison`, which lies above `plots`, as
`Comparison.report(path)` writes it.

Limits: `compare` leaves out `OneVsRest` and `OneVsOne`, as every classifier takes any number of classes.
"""
