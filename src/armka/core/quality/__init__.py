"""Facts and metrics (Q1, Q2). A fact is written by the statement that makes the transition; this
room reads them, and what waits.
"""
