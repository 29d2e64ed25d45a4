"""The broker's checks: it is there, takes our messages, and lets this user speak and hear."""

from armka.contract.subjects import CORE_RESULTS, Subjects
from armka.core.doctor.findings import Check, Finding
from armka.core.doctor.records import describe
from armka.messaging import account
from armka.messaging.connection import Connection

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


class Broker:
    """Asks one server, over a connection that the caller keeps."""

    def __init__(self, connection: Connection, subjects: Subjects) -> None:
        self._connection = connection
        self._subjects = subjects

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
        if not permissions.may_subscribe(self._subjects.result, CORE_RESULTS):
            refused.append(f"subscribe {self._subjects.result} as {CORE_RESULTS}")
        return PERMITTED.found(refused)
