"""What happened to a file: its timeline, its attempts, what to do about an error."""
