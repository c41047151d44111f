"""Side by side with the peers: `python -m benchmarks [--quick] [--only NAME]`.

A file here that decorates a function with `registry.benchmark` takes part; nothing else has to know it.
"""
