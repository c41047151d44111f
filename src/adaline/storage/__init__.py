"""Storage: fitted systems as files, which keep every bit and run no code.

A model file is a safetensors file: arrays as tensors, and a JSON header that a person can read, with the system, its
parameters, columns, certificate, and the tree of its state: the fields of the dataclass that its fit learns. The tree
may hold JSON values, tensors and the classes that the annotations of states name; nothing is imported or called by a
name in the file. Checksums cover the header and the tensors, against accidents. Against malice every field is checked
by its annotation (`forms.py`), with sizes that must agree, and one row is predicted before a model is returned.
So a new field of a state is one annotated line; one with a default needs no new schema. A system inside another (a
machine of `OneVsRest`) is a tree of its own parameters and state, under the same rules. Files of schema 6 are read by
`storage/old_schemas.py`.

Limits: `OneVsRest` and `OneVsOne` are stored where their machines are systems of adaline.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
