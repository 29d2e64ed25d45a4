"""One page at a time, in a child process: from a PDF or a picture to words and tables."""
