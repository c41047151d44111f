"""What the commands do; `adaline.faces.cli` says how they are called. Nothing here is imported for help."""
