"""Enclosures against exact rational arithmetic, on random designs."""
