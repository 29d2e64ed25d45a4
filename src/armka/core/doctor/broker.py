"""The broker's checks: it is there, takes our messages, and lets this user speak and hear."""

from armka.contract.subjects import CORE_RESULTS, Subjects
from armka.core.doctor.findings import Check, Finding
from armka.core.doctor.records import describe
from armka.messaging import account
from armka.messaging.connection import Connection
from armka.messaging.stream import STREAM as RECOGNITION
from armka.messaging.stream import Stream, StreamUnavailable

# The largest request that a long file name can make, with room; results hold metrics besides.
LEAST_PAYLOAD_BYTES = 64 * 1024

REACHED = Check(
    "nats",
    "NATS cannot be reached.",
    "See that it runs, NATS_URL and the credentials; jobs stay queued until it is back.",
)
PAYLOAD = Check(
    "nats_payload_too_small",
    "The server takes smaller messages than a request may be.",
    f"Set the server's max_payload to at least {LEAST_PAYLOAD_BYTES} bytes.",
)
LASTING = Check(
    "nats_credentials_end",
    "The JWT that is shown to NATS ends soon, and no newer one is known.",
    "Run `armka nats-setup` again and put the new JWT into OpenBao; one in the environment is read "
    "by a restart only.",
)
PERMITTED = Check(
    "nats_forbids_subject",
    "The server forbids this user a subject that the exchange needs.",
    "Give the user the permissions of its role: `armka nats-setup`, docs/operate/credentials.md.",
)


STREAM = Check(
    "nats_stream_differs",
    "The stream or the core's consumer is missing, or not set as the core would create it.",
    "Set it as told, or see in docs/operate/transports.md that the difference does no harm.",
)
BACKLOG = Check(
    "nats_results_wait",
    "Envelopes wait in the stream, and the core's consumer has as many in hand as it may.",
    'See that a core runs, that it reaches the database, and the log of the loop "inbox".',
)


class Broker:
    """Asks one server, over a connection that the caller keeps; `stream` where one is used."""

    def __init__(
        self, connection: Connection, subjects: Subjects, stream: Stream | None = None
    ) -> None:
        self._connection = connection
        self._subjects = subjects
        self._stream = stream

    @property
    def is_live(self) -> bool:
        """Whether there is a connection now."""
        return self._connection.is_live

    def reached(self) -> list[Finding]:
        """Whether it is connected, how large a message may be, and how long it will be let in."""
        if not self.is_live:
            trouble = self._connection.trouble
            others = [check.unreached("no connection") for check in (PAYLOAD, LASTING)]
            return [REACHED.unreached(trouble), *others]
        largest = self._connection.client.max_payload
        small = [] if largest >= LEAST_PAYLOAD_BYTES else [f"max_payload is {largest} bytes"]
        shown = self._connection.credentials
        ends = [f"at {shown.expires}"] if shown is not None and shown.ends_soon else []
        return [REACHED.found([]), PAYLOAD.found(small), LASTING.found(ends)]

    async def streamed(self) -> list[Finding]:
        """How the stream and the core's consumer are; nothing where none is used."""
        if self._stream is None:
            return []
        if not self.is_live:
            return [STREAM.unreached("no connection"), BACKLOG.unreached("no connection")]
        try:
            differences = await self._stream.differences()
            backlog = await self._stream.backlog()
        except StreamUnavailable as error:
            return [STREAM.found([str(error)]), BACKLOG.unreached(str(error))]
        stuck = backlog.waiting and backlog.in_hand >= self._stream.durable.max_ack_pending
        waiting = [f"{backlog.waiting} wait, {backlog.in_hand} in hand"] if stuck else []
        return [STREAM.found(differences), BACKLOG.found(waiting)]

    async def permitted(self) -> Finding:
        """Whether the server's permissions for this user cover the exchange's subjects."""
        if not self.is_live:
            return PERMITTED.unreached("no connection")
        try:
            permissions = await account.permissions(self._connection.client)
        except account.NotTold as error:
            # Who may not even hear answers has the credentials of another role.
            deaf = [it for it in self._connection.permission_errors() if "subscription" in it]
            return PERMITTED.found(deaf) if deaf else PERMITTED.skipped(describe(error))
        publish = (self._subjects.tabular_request, self._subjects.image_request)
        refused = [f"publish {it}" for it in publish if not permissions.may_publish(it)]
        if self._stream is not None:
            pull = f"$JS.API.CONSUMER.MSG.NEXT.{RECOGNITION}.{CORE_RESULTS}"
            refused += [] if permissions.may_publish(pull) else [f"publish {pull}"]
        elif not permissions.may_subscribe(self._subjects.result, CORE_RESULTS):
            refused.append(f"subscribe {self._subjects.result} as {CORE_RESULTS}")
        return PERMITTED.found(refused)
