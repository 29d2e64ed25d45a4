"""What the core refuses, as facts with fields. `http.problems` alone decides what each means over
HTTP.

CoreError
+-- SettingsInvalid
+-- FileNotFound
+-- JobNotFound
+-- AttemptUnderWay
+-- AttemptNotFound
+-- FileWithdrawn
+-- UploadRefused
+-- KeyReused
+-- NothingRead
+-- SourceMissing
+-- DocumentNotFound
+-- PageNotKept
+-- RevisionNeeded
+-- RevisionMoved
+-- ValueRefused
+-- NotUnderReview
+-- AttemptSuperseded
+-- ReasonNeeded
+-- MessageNotFound
+-- OperationNotFound
+-- BulkTooLarge
+-- UserNotFound
+-- TokenNotFound
+-- NameTaken
+-- NotLocal
+-- PasswordUnfit
+-- PasswordWrong
+-- SignInRefused
+-- SignInLocked
+-- LinkVoid
+-- ProviderRefused
+-- ProviderUnavailable
"""

from uuid import UUID


class CoreError(Exception):
    """The root of the core's refusals."""


class SettingsInvalid(CoreError):
    """The environment does not describe a core that can run; `problems` name variables, never
    values.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class FileNotFound(CoreError):
    """No file has this id."""

    def __init__(self, file_id: UUID) -> None:
        super().__init__(f"no file {file_id}")
        self.file_id = file_id


class AttemptNotFound(CoreError):
    """A file has no such earlier attempt that read anything; None: its current one read nothing."""

    def __init__(self, file_id: UUID, attempt: int | None) -> None:
        which = "its current attempt" if attempt is None else f"an earlier attempt {attempt}"
        super().__init__(f"file {file_id} has nothing that {which} read")
        self.file_id = file_id
        self.attempt = attempt


class JobNotFound(CoreError):
    """No job has this id."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"no job {job_id}")
        self.job_id = job_id


class AttemptUnderWay(CoreError):
    """The file's current attempt has not ended, or its result is not mapped yet: no new one may
    start (A1).
    """

    def __init__(self, file_id: UUID, file_status: str) -> None:
        super().__init__(
            f"file {file_id} is {file_status}: wait until its current attempt has ended"
        )
        self.file_id = file_id
        self.file_status = file_status


class UploadRefused(CoreError):
    """The bytes are no document that can be recognised (F1); `code` is stable, the message is for a
    person.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class FileWithdrawn(CoreError):
    """The file was withdrawn: nothing new begins with it before it is restored."""

    def __init__(self, file_id: UUID) -> None:
        super().__init__(f"file {file_id} is withdrawn: restore it first")
        self.file_id = file_id


class KeyReused(CoreError):
    """The `Idempotency-Key` of this request came with another one before."""

    def __init__(self, key: str) -> None:
        super().__init__(
            "This Idempotency-Key came with another request before: use a new key for a new request"
        )
        self.key = key


class NothingRead(CoreError):
    """There is no trial balance to export: the current attempt has not read one."""

    def __init__(self, file_id: UUID, file_status: str) -> None:
        super().__init__(
            f"file {file_id} is {file_status}: its current attempt has read no trial balance"
        )
        self.file_id = file_id
        self.file_status = file_status


class SourceMissing(CoreError):
    """The object store no longer has the document that the file's row names, or has another."""

    def __init__(self, file_id: UUID) -> None:
        super().__init__(f"the document of file {file_id} is not in the object store: call support")
        self.file_id = file_id


class DocumentNotFound(CoreError):
    """The attempt that counts has read no such document."""

    def __init__(self, file_id: UUID, ordinal: int, file_status: str) -> None:
        super().__init__(
            f"file {file_id} is {file_status}: its current attempt has no document {ordinal}"
        )
        self.file_id = file_id
        self.ordinal = ordinal
        self.file_status = file_status


class PageNotKept(CoreError):
    """Of this page nothing is kept that could be shown."""

    def __init__(self, file_id: UUID, page: int) -> None:
        super().__init__(f"nothing is kept of page {page} of file {file_id}: download its source")
        self.file_id = file_id
        self.page = page


class RevisionNeeded(CoreError):
    """A change does not say which revision it was made of."""

    def __init__(self) -> None:
        super().__init__("send the document's ETag as If-Match: a change is made of what was seen")


class RevisionMoved(CoreError):
    """Somebody else has changed the document since it was seen; `changes`: what, oldest first."""

    def __init__(self, etag: str, revision: int, changes: list[dict[str, object]]) -> None:
        super().__init__(
            f"the document has moved on to revision {revision}: look at the changes, then try again"
        )
        self.etag = etag
        self.revision = revision
        self.changes = changes


class ValueRefused(CoreError):
    """A typed value cannot stand where it should; `code` is stable, the message is for a person."""

    def __init__(self, line: int, field: str, code: str, why: str) -> None:
        super().__init__(f"line {line}, {field}: {why}")
        self.line = line
        self.field = field
        self.code = code


class NotUnderReview(CoreError):
    """The file's status does not allow it: only what needs a check is corrected and confirmed, only
    what is done is reopened.
    """

    def __init__(self, file_id: UUID, file_status: str) -> None:
        do = "reopen it first" if file_status == "DONE" else "wait until it has been read"
        super().__init__(f"file {file_id} is {file_status}: {do}")
        self.file_id = file_id
        self.file_status = file_status


class AttemptSuperseded(CoreError):
    """The attempt that was looked at counts no more: the file has been recognised again."""

    def __init__(self, file_id: UUID, job_id: UUID | None) -> None:
        super().__init__(f"file {file_id} has been recognised again: look at what came of it")
        self.file_id = file_id
        self.job_id = job_id


class ReasonNeeded(CoreError):
    """Something still fails or is unknown: who confirms it all the same says why."""

    def __init__(self, failed_checks: int, unknown_count: int) -> None:
        super().__init__(
            f"{failed_checks} checks fail and {unknown_count} values are unknown: give a reason"
        )
        self.failed_checks = failed_checks
        self.unknown_count = unknown_count


class MessageNotFound(CoreError):
    """No rejected message has this id."""

    def __init__(self, message_id: int) -> None:
        super().__init__(f"no rejected message {message_id}")
        self.message_id = message_id


class OperationNotFound(CoreError):
    """No bulk operation has this id."""

    def __init__(self, operation_id: UUID) -> None:
        super().__init__(f"no operation {operation_id}")
        self.operation_id = operation_id


class BulkTooLarge(CoreError):
    """More files match than one operation may take."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} files match: narrow the filter")
        self.limit = limit


class UserNotFound(CoreError):
    """No account has this id."""

    def __init__(self, user_id: UUID) -> None:
        super().__init__(f"no user {user_id}")
        self.user_id = user_id


class TokenNotFound(CoreError):
    """No API token has this id."""

    def __init__(self, token_id: UUID) -> None:
        super().__init__(f"no token {token_id}")
        self.token_id = token_id


class NameTaken(CoreError):
    """Another account, or another token in use, has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name} is taken: choose another")
        self.name = name


class NotLocal(CoreError):
    """The identity provider keeps this account: its password and roles are changed there."""

    def __init__(self, user_id: UUID | None) -> None:
        super().__init__(
            "this is no account with a password here: change it at the identity provider"
        )
        self.user_id = user_id


class PasswordUnfit(CoreError):
    """A new password is too easily guessed; `code` is stable, the message is for a person."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class PasswordWrong(CoreError):
    """The present password is another one."""

    def __init__(self) -> None:
        super().__init__("the present password is another one")


class SignInRefused(CoreError):
    """Name and password do not let in; which of the two is wrong is not told."""

    def __init__(self) -> None:
        super().__init__("name or password is wrong")


class SignInLocked(CoreError):
    """Too many failures: nobody comes in by this name, or from this address, for a while."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many failed sign-ins: try again in {seconds} s")
        self.seconds = seconds


class LinkVoid(CoreError):
    """A sign-in link was used before, is too old, or was replaced."""

    def __init__(self) -> None:
        super().__init__("this link lets nobody in any more: ask for another")


class ProviderRefused(CoreError):
    """The identity provider's word does not let in; `why` is for a person."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ProviderUnavailable(CoreError):
    """The identity provider cannot be asked."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
