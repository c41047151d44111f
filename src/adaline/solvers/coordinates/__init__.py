"""Coordinate descent on second moments, for squared losses under l1 and ridge penalties."""
