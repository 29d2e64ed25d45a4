"""R6: documents of a client in order, and whether each goes on where the last one ended."""
