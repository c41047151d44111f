"""Tables as sources: files, queries, databases and frames, read by DuckDB and Arrow."""
