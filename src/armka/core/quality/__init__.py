"""Facts about failures (Q1). Each is written by the statement that makes the transition, in the same transaction."""
