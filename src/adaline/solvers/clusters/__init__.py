"""Clusters: k-means and EM, which alternate assignments and updates."""
