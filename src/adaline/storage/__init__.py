"""Storage: fitted systems as files. Model files keep every bit and run no code; ONNX is for other runtimes.

A model file is a safetensors file: arrays as tensors, and a JSON header that a person can read, with the system, its
parameters, columns, certificate, and the tree of its state. The tree may hold JSON values, tensors and a closed list of
the project's own classes, whose fields must match exactly; nothing is imported or called by a name in the file.
Checksums cover the header and the tensors, against accidents. Against malice every attribute is checked by its form in
`storage/schema.py`, with sizes that must agree, and one row is predicted before a model is returned. The state of a new
system is entered there. A system inside another (a machine of `OneVsRest`) is a tree of its own parameters and state,
under the same rules.

Limits: `OneVsRest` and `OneVsOne` are stored and exported where their machines are systems of adaline. ONNX takes the
coded columns: categories and formulas are not part of the graph.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
