"""A service at work: one loop, from the first connection to the last answer."""

import asyncio
import contextlib
import signal

import structlog

from armka.messaging.connection import connected
from armka.messaging.credentials import SecretFields
from armka.messaging.delivery import Deliverer
from armka.messaging.settings import NatsSettings
from armka.messaging.transport import Inbound, ends
from armka.objects.settings import ObjectSettings
from armka.sdk.acks import Acks
from armka.sdk.children import Children
from armka.sdk.folder import private_folder
from armka.sdk.intake import Intake
from armka.sdk.replies import Replies
from armka.sdk.service import Service
from armka.sdk.settings import ServiceSettings
from armka.sdk.work import Workshop
from armka.secrets.openbao import openbao
from armka.secrets.settings import OpenBaoSettings

log = structlog.get_logger(__name__)


def run(service: Service) -> None:
    """Run a service, set up by the environment, until SIGTERM or SIGINT; raises as `serve`."""
    settings = NatsSettings(), ObjectSettings(), ServiceSettings()
    secrets = openbao(OpenBaoSettings())

    async def until_told() -> None:
        stop = asyncio.Event()
        for told in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(told, stop.set)
        await serve(service, *settings, stop, secrets)

    asyncio.run(until_told())


async def serve(
    service: Service,
    nats_settings: NatsSettings,
    object_settings: ObjectSettings,
    service_settings: ServiceSettings,
    stop: asyncio.Event,
    secrets: SecretFields | None = None,
) -> None:
    """Run a service until `stop` is set, then finish what is in hand.

    Raises HandlerNotImported where its child processes do not start. NATS and S3 may come and go.
    """
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(private_folder())
        outside = await stack.enter_async_context(service.outside()) if service.outside else None
        children = await stack.enter_async_context(
            Children(service.handler, service_settings, service.handler_sees)
        )
        connection = await stack.enter_async_context(
            connected(nats_settings, name=service.name, role=service.name, secrets=secrets)
        )
        subjects = nats_settings.subjects
        requests = Inbound(
            subjects.request(service.pipeline), service.name, service_settings.backlog
        )
        both = await stack.enter_async_context(ends(connection, nats_settings, requests))
        acks = Acks(both.publisher, connection)
        intake = Intake(
            service,
            service_settings,
            both.receiver,
            Replies(service.info, subjects.result),
            acks,
            Deliverer(connection, pause_seconds=service_settings.repeat_seconds),
            Workshop(service, children, object_settings, service_settings, folder, outside),
        )
        stack.push_async_callback(intake.abandon)
        log.info("service started", name=service.name, version=service.version)
        async with asyncio.TaskGroup() as loops:
            acking = loops.create_task(acks.run())
            taking = loops.create_task(intake.run())
            await stop.wait()
            log.info("service is stopping", name=service.name)
            taking.cancel()
            await both.receiver.stop()
            await intake.drain(service_settings.drain_seconds)
            acking.cancel()
        log.info("service stopped", name=service.name)
