"""Claims of certificates against 65-digit arithmetic, on random designs."""
