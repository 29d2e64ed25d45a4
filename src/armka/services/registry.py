"""The services by name, and how one is run as a process."""

from collections.abc import Callable

from pydantic import ValidationError

from armka.contract.vocabulary import Pipeline
from armka.sdk.children import HandlerNotImported
from armka.sdk.outside import NotSetUp
from armka.sdk.runtime import run
from armka.sdk.service import MissingAttempt, Service


class ServiceUnknown(Exception):
    """No service has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no service {name!r}; there is {', '.join(sorted(_SERVICES))}")
        self.name = name


class ServiceNotRun(Exception):
    """The service cannot run; `problems` name settings, never values."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def service(name: str) -> Service:
    """Find a service; what it needs is imported now. Raises ServiceUnknown."""
    if name not in _SERVICES:
        raise ServiceUnknown(name)
    return _SERVICES[name]()


def run_service(found: Service) -> None:
    """Run a service until SIGTERM or SIGINT; raises ServiceNotRun."""
    try:
        run(found)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)
        raise ServiceNotRun([_problem(it["loc"], it["msg"]) for it in problems]) from None
    except (HandlerNotImported, NotSetUp) as error:
        raise ServiceNotRun([str(error)]) from None


def _problem(where: tuple[int | str, ...], what: str) -> str:
    what = what.removeprefix("Value error, ")
    return ": ".join([".".join(map(str, where)), what]) if where else what


def _tabular_parser() -> Service:
    from armka.services.tabular_parser import NAME, VERSION  # noqa: PLC0415 - only its process pays
    from armka.services.tabular_parser.recognise import recognise  # noqa: PLC0415

    return Service(NAME, VERSION, Pipeline.TABULAR, recognise, MissingAttempt.FROM_MESSAGE_ID)


def _scan_gateway() -> Service:
    from armka.services.scan_gateway import NAME, VERSION  # noqa: PLC0415 - only its process pays
    from armka.services.scan_gateway.gateway import gateway  # noqa: PLC0415
    from armka.services.scan_gateway.recognise import recognise  # noqa: PLC0415
    from armka.services.scan_gateway.settings import ReadingSettings  # noqa: PLC0415

    return Service(
        *(NAME, VERSION, Pipeline.IMAGE, recognise, MissingAttempt.ONE),
        outside=gateway,
        handler_sees=ReadingSettings.variables(),
    )


_SERVICES: dict[str, Callable[[], Service]] = {
    "scan-gateway": _scan_gateway,
    "tabular-parser": _tabular_parser,
}
