"""Random attacks, each made from a seed: on model files, tables, formulas, queries, inputs and kernels.

A target is a function of a random generator and a folder. It attacks adaline once and returns what came of it,
"worked" or "refused" (an AdalineError); whatever else comes of it, a foreign exception, a number that is not finite
where finite ones are promised, a crash, a hang, is a failure. `python -m tests.fuzz` runs them for a given time; the
seeds of failures are kept in seeds.txt, and the tests run them again.
"""
