"""Faults on purpose, and the reckoning afterwards.

`python -m chaos` (`make soak`) runs the servers, two cores and two services as real processes,
sends documents through the API while it kills, freezes and restarts all of them by a schedule that
a seed decides, heals them, lets them finish and compares everything that can be compared: what the
sender was told, the tables, the event log, the bucket. `invariants.sql` says what must hold in the
tables whatever happened; the state machine of the tests checks the same after every step.
"""
