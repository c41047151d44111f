"""Clusters: k-means and EM, assignments and moves in turn."""
