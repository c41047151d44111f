"""Engines: where the parts of a table are held and summed, in other processes and on other machines."""
