"""A model outside Python: its prediction as a tree, printed as SQL, C, JavaScript, plain Python or ONNX.

`columns.py` and `prediction.py` make the tree (`tree.py`) of a fitted system; each language is a printer of it.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
