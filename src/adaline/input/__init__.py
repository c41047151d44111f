"""Input: what `fit` accepts, made into a source of rows: arrays, frames, tables, labels, bases, class weights."""
