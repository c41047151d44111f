"""Effects of the levels of columns, absorbed: projected out of columns and targets before they are fitted."""
