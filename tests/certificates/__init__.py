"""Claims of certificates against 90-digit arithmetic, on random designs."""
