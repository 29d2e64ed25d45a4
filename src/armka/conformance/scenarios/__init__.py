"""The checks, a file for each part of the exchange."""
