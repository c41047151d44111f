"""Epochs: scans that process the rows several times.

`sweep.py` runs a scan until an epoch is without a mistake, the error settles, or the scan diverges. `pocket.py` keeps
the best weights that a perceptron ever had; where a table is streamed it draws rows at random within blocks.
`stochastic.py` is the textbook's loop for machines and losses without a native scan. `progressive.py` reports the
progressive loss at 1, 2, 4, 8, ... rows.
"""
