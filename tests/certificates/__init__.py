"""Claims of certificates against 60-digit arithmetic, on random designs."""
