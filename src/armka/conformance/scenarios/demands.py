"""Settings that scenarios ask for."""

from armka.conformance.scenario import Demand

# The republishing is seen to its end; a watchdog that looks seldom leaves the outbox to itself.
IMPATIENT = (
    Demand("ACK_TIMEOUT_SECONDS", 0.5, at_most=60),
    Demand("WATCHDOG_PERIOD_SECONDS", 3, at_least=1),
)
SELDOM = (Demand("OUTBOX_POLL_SECONDS", 60, at_least=15),)
DISABLED = (Demand("NATS_ENABLED", "false"),)
ELSEWHERE = (
    Demand("NATS_SUBJECT_TABULAR_REQUEST", "bank.sheets"),
    Demand("NATS_SUBJECT_IMAGE_REQUEST", "bank.scans"),
    Demand("NATS_SUBJECT_RESULT", "bank.recognised"),
)
