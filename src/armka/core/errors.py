"""What the core refuses, as facts with fields. `http.problems` alone decides what each means over
HTTP.

CoreError
+-- SettingsInvalid
+-- FileNotFound
+-- JobNotFound
+-- AttemptUnderWay
+-- UploadRefused
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
