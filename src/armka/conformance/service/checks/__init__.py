"""The checks, a file for each part of a service's life."""
