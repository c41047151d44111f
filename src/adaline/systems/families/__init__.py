"""Families: what several named learners share."""
