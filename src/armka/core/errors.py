"""What the core refuses, as facts with fields. `http.problems` alone decides what each means over
HTTP.

CoreError
+-- SettingsInvalid
+-- FileNotFound
+-- JobNotFound
+-- AttemptUnderWay
+-- FileWithdrawn
+-- UploadRefused
+-- KeyReused
+-- NothingRead
+-- SourceMissing
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
