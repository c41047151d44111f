"""Tables: files, queries, databases and frames, read by DuckDB and Arrow."""
