"""The application: routes, who may call them, what errors look like."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI

from armka.core.carrying.store import Carrying
from armka.core.continuity.store import Continuity
from armka.core.database.pool import Database
from armka.core.files.attempts import Attempts
from armka.core.files.bulk import BulkAttempts
from armka.core.files.changes import FileChanges
from armka.core.files.export import Exports
from armka.core.files.source import Sources
from armka.core.files.store import Files
from armka.core.files.uploads import SQL as FILES_SQL
from armka.core.files.uploads import Uploads
from armka.core.files.withdrawal import Withdrawals
from armka.core.history.store import Histories
from armka.core.http import (
    bulk,
    carrying,
    continuity,
    docs,
    downloads,
    files,
    health,
    history,
    identity,
    jobs,
    metrics,
    problems,
    review,
)
from armka.core.http.guard import Guard, RefusalPage
from armka.core.http.health import Check, Readiness, Vitals
from armka.core.http.metrics import Metrics
from armka.core.http.request_log import RequestLog
from armka.core.identity.identity import Identity
from armka.core.jobs.rejected import RejectedMessages
from armka.core.jobs.store import SQL as JOBS_SQL
from armka.core.jobs.store import Jobs
from armka.core.jobs.watch import StatusWatch
from armka.core.quality.backlog import Backlog, Tail
from armka.core.review.confirmations import Confirmations
from armka.core.review.corrections import Corrections
from armka.core.review.documents import ReviewedDocuments
from armka.core.review.pages import PageSources
from armka.objects.store import ObjectMissing, ObjectStore

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_DESCRIPTION = (
    "Documents in, checked trial balances out. Errors are problem documents (RFC 9457) with stable "
    "types; lists are read page by page with `next` and `after`; POST requests take an "
    "`Idempotency-Key` and may then be repeated safely."
)
# No upload has this key.
_PROBE_KEY = "uploads/readyz"


@dataclass
class Parts:
    """What the routes work with."""

    database: Database
    objects: ObjectStore
    bulk: BulkAttempts
    continuity: Continuity
    vitals: Vitals
    upload_limit: int
    identity: Identity
    changes: FileChanges
    refusal_page: RefusalPage
    pages: PageSources
    file_watch: StatusWatch = field(init=False)
    job_watch: StatusWatch = field(init=False)

    def __post_init__(self) -> None:
        self.file_watch = StatusWatch(self.database, FILES_SQL.statuses)
        self.job_watch = StatusWatch(self.database, JOBS_SQL.statuses)

    def stop_waiting(self) -> None:
        """Answer every long poll and end every live page's stream now."""
        self.file_watch.close()
        self.job_watch.close()
        self.changes.close()

    def checks(self) -> Mapping[str, Check]:
        """What readiness asks of the servers; each raises where its server does not serve."""

        async def ask_database() -> None:
            async with self.database.connection() as connection:
                await connection.execute(JOBS_SQL.probe)

        async def ask_objects() -> None:
            try:
                await self.objects.get(_PROBE_KEY, limit=1)
            except ObjectMissing:
                return

        return {"database": ask_database, "objects": ask_objects}


def create_app(parts: Parts, version: str, lifespan: Lifespan) -> FastAPI:
    """Build the application."""
    # The interactive page would load its scripts from elsewhere; docs.py serves a plain one.
    app = FastAPI(
        title="arm-ka",
        version=version,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    who = parts.identity
    app.add_middleware(
        Guard,
        credentials=who.credentials,
        origin=who.settings.origin,
        page=parts.refusal_page,
    )
    problems.install(app)
    told = Metrics()
    app.add_middleware(RequestLog, count=told.request)
    app.include_router(_api(parts))
    app.include_router(health.router(parts.vitals, Readiness(parts.checks(), parts.vitals)))
    tail = Tail(parts.database, told)
    app.include_router(metrics.router(told, Backlog(parts.database), tail, parts.vitals))
    app.include_router(docs.router(app.openapi))
    return app


def _api(parts: Parts) -> APIRouter:
    database, objects = parts.database, parts.objects
    rejected = RejectedMessages(database)
    api = APIRouter(prefix="/api/v1", responses=problems.RESPONSES)
    who = parts.identity
    api.include_router(downloads.router(Sources(database, objects), Exports(database), who.audit))
    api.include_router(
        files.router(
            Files(database),
            Uploads(database, objects),
            Attempts(database),
            Withdrawals(database),
            parts.file_watch,
            parts.upload_limit,
        )
    )
    api.include_router(history.router(Histories(database)))
    api.include_router(carrying.router(Carrying(database)))
    api.include_router(continuity.router(parts.continuity))
    api.include_router(
        review.router(
            Files(database),
            ReviewedDocuments(database),
            parts.pages,
            Corrections(database),
            Confirmations(database),
        )
    )
    api.include_router(bulk.router(parts.bulk))
    api.include_router(jobs.router(Jobs(database), parts.job_watch, rejected))
    api.include_router(jobs.messages_router(rejected))
    api.include_router(identity.router(who.accounts, who.tokens, who.audit))
    return api
