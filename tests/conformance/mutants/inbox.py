"""Faults of the inbox."""

import asyncio
import dataclasses
from typing import Any
from uuid import uuid4

from armka.contract import codec
from armka.contract.codec import InvalidMessage
from armka.contract.outcome import Outcome, OutcomeKind
from armka.core.inbox import decide as deciding
from armka.core.inbox import receiver, write
from armka.core.inbox.decide import Acknowledge, Apply, Ignore, Reject, status_of
from armka.core.inbox.receiver import Inbox
from armka.core.inbox.write import SQL
from armka.core.jobs.states import JobStatus
from armka.messaging.plain import PlainReceiver
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from tests.conformance.mutants.mutant import WITHOUT_GUARD, edit, mutant


@mutant("an-ack-waits-for-the-publishers-commit")
def looks_before_it_locks() -> None:
    """Reads the job's status without waiting for who holds it."""
    edit(SQL, "lock_jobs", "for no key update", "")


@mutant("the-first-acks-values-stay")
def takes_every_ack() -> None:
    """A second ack overwrites the first one's values."""
    original = deciding._acknowledge

    def acknowledge(envelope: Any, job: Any) -> Any:
        if job.status is JobStatus.PROCESSING:
            return Acknowledge(job.id, envelope)
        return original(envelope, job)

    deciding._acknowledge = acknowledge
    edit(SQL, "acknowledge", "j.status = 'published'", "j.status in ('published', 'processing')")


@mutant("an-acknowledged-job-is-processing", "every-transition-can-be-seen-afterwards")
def forgets_acks() -> None:
    """Says that an ack was applied, and writes nothing."""

    async def acknowledge(connection: object, acks: object) -> None:
        return None

    write.acknowledge = acknowledge


@mutant("an-ack-brings-nothing-else")
def registers_the_raw_answer_of_an_ack() -> None:
    """`raw_s3_key` on `processing` makes an object."""
    objects = (
        "with raw as (insert into s3_object (bucket, key, bucket_role) "
        "select 'arm-ka', 'raw/' || id || '.json', 'raw' from unnest($1::uuid[]) id), cause"
    )
    edit(SQL, "acknowledge", "with cause", objects)


@mutant(
    "a-result-for-a-final-job-is-late", "a-new-attempt-is-a-new-job", database=WITHOUT_GUARD
)  # fmt: skip
def overwrites_a_final_status() -> None:
    """The last result wins, whatever the job is."""

    def apply(envelope: Any, msg_id: str, job: Any) -> Any:
        job.status, job.result_msg_id = status_of(envelope), msg_id
        return Apply(job.id, job.file_id, job.status, envelope, msg_id)

    deciding._apply = apply
    edit(SQL, "apply_results", " and j.status in ('queued', 'published', 'processing')", "")
    edit(SQL, "write_facts", "any ($1::uuid[])", "any ($1::uuid[]) on conflict do nothing")


@mutant("a-result-for-a-final-job-is-late", "a-whole-life-in-one-batch")
def forgets_late_results() -> None:
    """A late result is not kept."""
    original = deciding._apply

    def apply(envelope: Any, msg_id: str, job: Any) -> Any:
        decision = original(envelope, msg_id, job)
        return Ignore(OutcomeKind.LATE, "late") if isinstance(decision, Reject) else decision

    deciding._apply = apply


@mutant("a-repeated-result-changes-nothing", "a-flawless-result-makes-the-file-done")
def takes_a_repeat_for_another_result() -> None:
    """Does not know its own Nats-Msg-Id again."""
    original = deciding._apply

    def apply(envelope: Any, msg_id: str, job: Any) -> Any:
        job.result_msg_id = None
        return original(envelope, msg_id, job)

    deciding._apply = apply


@mutant("a-result-is-healed-by-its-repeat", "a-result-without-an-id-gets-the-usual-one")
def calls_a_repeat_applied() -> None:
    """Tells the sender that the repeat was applied."""
    original = receiver._outcome

    def outcome(decision: Any) -> Outcome:
        return Outcome(OutcomeKind.APPLIED) if isinstance(decision, Ignore) else original(decision)

    receiver._outcome = outcome


@mutant(
    "a-known-object-is-used-again",
    database="alter table s3_object drop constraint s3_object_bucket_key",
)
def registers_every_object_anew() -> None:
    """A second row for the same (bucket, key)."""
    edit(SQL, "register_objects", "on conflict (bucket, key) do update set key = excluded.key", "")


@mutant("an-envelope-about-another-file-is-refused")
def believes_any_file_id() -> None:
    """An envelope that names another file is applied."""
    original = receiver.decide

    def decide(envelope: Any, msg_id: Any, job: Any, bucket: str) -> Any:
        if job is not None:
            job = dataclasses.replace(job, file_id=envelope.file)
        return original(envelope, msg_id, job, bucket)

    receiver.decide = decide


@mutant("an-envelope-that-points-elsewhere-is-refused")
def believes_any_key() -> None:
    """An envelope that points elsewhere is applied."""
    deciding._foreign_key = lambda envelope, job, bucket: None


@mutant("an-unknown-job-is-kept")
def drops_unknown_jobs() -> None:
    """An envelope about an unknown job leaves no trace."""
    original = receiver.decide

    def decide(envelope: Any, msg_id: Any, job: Any, bucket: str) -> Any:
        if job is None:
            return Ignore(OutcomeKind.UNKNOWN_JOB, "unknown")
        return original(envelope, msg_id, job, bucket)

    receiver.decide = decide


@mutant("rubbish-is-kept-and-harms-nobody", "every-invalid-example-is-rejected")
def keeps_nothing() -> None:
    """What is rejected is answered and forgotten."""

    async def keep_rejected(connection: object, rejected: object) -> None:
        return None

    write.keep_rejected = keep_rejected


@mutant("what-was-rejected-is-kept-whole")
def forgets_the_true_size() -> None:
    """body_size is the size of what was kept."""
    columns = "select a, b, c, d, e, f, g, octet_length(g) from unnest("
    edit(SQL, "keep_rejected", "select * from unnest(", columns)
    edit(SQL, "keep_rejected", "$8::integer[]\n)", "$8::integer[]\n) as m (a, b, c, d, e, f, g, h)")


@mutant("a-poisonous-envelope-holds-back-nobody")
def throws_away_a_refused_batch() -> None:
    """One envelope that the database refuses takes its neighbours with it."""
    Inbox._take_apart = lambda self, batch, error: None


@mutant("every-invalid-example-is-rejected")
def speaks_every_version() -> None:
    """Takes another MAJOR for its own."""
    original = codec.decode_envelope
    codec.decode_envelope = lambda body: original(body.replace(b'"2.0"', b'"1.0"'))


@mutant("minor-versions-and-unknown-fields-are-taken")
def speaks_one_version_only() -> None:
    """Refuses a MINOR version that it does not know."""
    original = codec.decode_envelope

    def decode(body: bytes) -> Any:
        envelope = original(body)
        if envelope.schema_version != "1.0":
            raise InvalidMessage("another version")
        return envelope

    codec.decode_envelope = decode


@mutant("a-result-is-applied", "a-result-overtakes-the-publishers-commit")
def wants_an_ack_first() -> None:
    """A result for a job that is not `processing` is late."""
    original = deciding._apply

    def apply(envelope: Any, msg_id: str, job: Any) -> Any:
        if job.status in {JobStatus.QUEUED, JobStatus.PUBLISHED}:
            return Reject("late", "no ack", job.id)
        return original(envelope, msg_id, job)

    deciding._apply = apply


@mutant("an-error-fails-job-and-file")
def fails_without_a_fact() -> None:
    """An error of the service leaves no quality_failure_fact."""
    edit(SQL, "write_facts", "any ($1::uuid[])", "any ($1::uuid[]) and false")


@mutant("a-fact-says-whose-failure-it-was")
def writes_an_anonymous_fact() -> None:
    """The fact does not say which service failed."""
    select = "error_code, pipeline, null, null\nfrom"
    edit(SQL, "write_facts", "error_code, pipeline, service_name, service_version\nfrom", select)


@mutant("an-error-fails-job-and-file", "a-service-that-just-publishes-loses-nothing")
def leaves_the_file_in_processing() -> None:
    """An error ends the job and not the file."""
    edit(SQL, "fail_files", "from file where f.id = file.id", "from file where false")


@mutant("an-old-attempts-result-leaves-the-file-alone")
def fails_anybodys_file() -> None:
    """An old attempt's error fails the file."""
    edit(SQL, "fail_files", " and f.current_recognition_job_id = r.job_id", "")


@mutant("a-raw-answer-is-registered")
def ignores_the_raw_answer() -> None:
    """`raw_s3_key` is read by nobody."""
    edit(SQL, "apply_results", "coalesce(r.raw_s3_object_id, j.raw_s3_object_id)", "null")


@mutant("an-ids-attempt-is-compared-with-nothing")
def compares_the_attempt() -> None:
    """A result whose id names another attempt is refused."""
    original = deciding._apply

    def apply(envelope: Any, msg_id: str, job: Any) -> Any:
        if not msg_id.endswith(f":{job.attempt}"):
            return Reject("invalid", "another attempt", job.id)
        return original(envelope, msg_id, job)

    deciding._apply = apply


@mutant("a-result-without-an-id-gets-the-usual-one")
def makes_up_an_id() -> None:
    """A result without an id gets a random one."""
    original = receiver.decide

    def decide(envelope: Any, msg_id: Any, job: Any, bucket: str) -> Any:
        return original(envelope, msg_id or str(uuid4()), job, bucket)

    receiver.decide = decide


@mutant("a-service-that-just-publishes-loses-nothing")
def hears_only_who_asks() -> None:
    """An envelope without a reply subject is dropped."""
    original = PlainReceiver._receive

    async def receive(self: PlainReceiver, message: Any) -> None:
        if message.reply:
            await original(self, message)

    PlainReceiver._receive = receive


@mutant("an-envelope-reaches-one-replica")
def has_no_queue_group() -> None:
    """Every replica hears every envelope."""
    original = PlainReceiver.__init__

    def init(self: PlainReceiver, connection: Any, subject: str, queue: str, **more: Any) -> None:
        original(self, connection, subject, "", **more)

    PlainReceiver.__init__ = init


@mutant("a-whole-life-in-one-batch")
def decides_by_the_batchs_beginning() -> None:
    """Each envelope of a batch is judged as if it were the first."""
    original = receiver.decide

    def decide(envelope: Any, msg_id: Any, job: Any, bucket: str) -> Any:
        return original(envelope, msg_id, job and dataclasses.replace(job), bucket)

    receiver.decide = decide


@mutant("an-answer-comes-after-the-commit")
def answers_before_the_commit() -> None:
    """Tells the sender first, and writes then."""
    original = Inbox._settle

    async def settle(self: Inbox, read: Any, rejected: Any) -> None:
        applied = Outcome(OutcomeKind.APPLIED)
        await self._receiver.settle([(item.incoming, applied) for item in read])
        await asyncio.sleep(0.05)
        await original(self, read, rejected)

    Inbox._settle = settle


@mutant("the-inbox-does-not-read-the-result")
def reads_the_result_first() -> None:
    """Fetches the result file before it applies the envelope."""
    original = Inbox._settle
    store = ObjectStore(ObjectSettings())

    async def settle(self: Inbox, read: Any, rejected: Any) -> None:
        for item in read:
            await store.get(item.envelope.result_s3.key, limit=10**6)
        await original(self, read, rejected)

    Inbox._settle = settle
