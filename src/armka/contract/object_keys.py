"""Keys of the contract's objects in S3. Names from outside never become part of a key."""

from uuid import UUID


def upload(file_id: UUID | str, extension: str) -> str:
    """Where the core puts a source file (F1); `extension` is the file type's own, in lower case."""
    return f"uploads/{file_id}/source.{extension}"


def result(file_id: UUID | str, job_id: UUID | str) -> str:
    """Where a service puts the result file."""
    return f"results/{file_id}/{job_id}/result.json"


def raw(job_id: UUID | str) -> str:
    """Where a scan gateway puts the external system's answer (I4)."""
    return f"raw/{job_id}.json"
