"""Offsets: a known part of each output, z = w'x + w0 + offset, of systems that take one (`takes_offset`).

Rows have it as their last target, under a loss that knows (`losses/offset.py`), so that sums and solvers need no code
for it. A model that was fitted with an offset says so in its state, `_with_offset`, and predicts with that of new rows.
"""

from __future__ import annotations

from adaline.arrays import Array, OffsetsLike, RowsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnySystem
from adaline.input.coded import effects_on, offset_of
from adaline.input.open import read_offset
from adaline.links import name_of
from adaline.losses import Loss
from adaline.sources import Source


def add_offset(
    z: Array, system: AnySystem, X: RowsLike, offset: OffsetsLike, exposure: OffsetsLike = None, *, fitted_so: bool
) -> Array:
    """Return outputs z of rows plus their offsets, (n, K): those given, or those that a source brings."""
    known = read_offset(offset, exposure, *z.shape)
    if known is None and (effects := effects_on(system, X)) is not None:
        known = effects.reshape(len(z), -1)  # minus infinity where rows are separated
    elif known is None and fitted_so:
        known = read_offset(offset_of(system, X), None, *z.shape)
    if known is None and fitted_so:
        raise InvalidParameter(
            "this model was fitted with an offset: give that of these rows too, as offset= (of rates as exposure=); "
            "offset=0 predicts without a known part, a rate for an exposure of one"
        )
    return z if known is None else z + known


def refuse_exposure(loss: Loss, exposure: OffsetsLike) -> None:
    """Refuse an exposure where the means of a loss are not known to grow in proportion to it."""
    if exposure is not None and (loss.linked is None or name_of(loss.linked.link) != "log"):
        raise InvalidParameter("exposure is the logarithm's offset: it needs link='log'; give offset= instead")


def refuse_other_rows(system: AnySystem, rows: Source) -> None:
    """Refuse rows given again with an offset where the model was fitted without, and the other way round."""
    fitted_so = bool(getattr(system, "_with_offset", None))
    if bool(rows.targets.offset) != fitted_so:
        what = "with an offset: give it again, as offset= (or exposure=)" if fitted_so else "without an offset"
        raise InvalidParameter(f"this model was fitted {what}")
