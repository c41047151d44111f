"""Input: what `fit` accepts, made into a source of rows: arrays, frames, tables, labels, bases, class weights."""

from adaline.input.blockwise import by_blocks
from adaline.input.columns import set_columns
from adaline.input.drafts import transaction
from adaline.input.meter import Meter
from adaline.input.random_state import generator

__all__ = ["Meter", "by_blocks", "generator", "set_columns", "transaction"]
