"""The surface of a core, by the transport that it uses."""

import contextlib
from collections.abc import AsyncIterator

from armka.conformance import rows, wire
from armka.conformance.stream_surface import StreamSurface
from armka.conformance.stream_wire import StreamWire
from armka.conformance.surface import Surface
from armka.conformance.target import Target
from armka.conformance.transports import Trait
from armka.conformance.wire import Wire


@contextlib.asynccontextmanager
async def opened(target: Target) -> AsyncIterator[Surface]:
    """The surface of a core for the time of the block."""
    async with rows.opened(target.database_url) as tables:
        if Trait.KEEPS in target.manner.traits:
            async with wire.opened(target.nats, StreamWire) as stream:
                yield StreamSurface(target, tables, stream)
        else:
            async with wire.opened(target.nats, Wire) as plain:
                yield Surface(target, tables, plain)
