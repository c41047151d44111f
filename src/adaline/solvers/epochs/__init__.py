"""Epochs: scans that go over the rows again and again."""
