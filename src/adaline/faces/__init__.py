"""Faces: what people see. They read only systems and their solutions."""
