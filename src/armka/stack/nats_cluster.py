"""Several NATS servers that keep their streams together."""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from armka.stack.nats import NatsServer
from armka.stack.ports import LOOPBACK, free_ports


class NatsCluster:
    """`size` nodes in folders of `home`; each can be killed, paused and started like any server."""

    def __init__(self, home: Path, *, size: int = 3, fsync: bool = True) -> None:
        ports = list(free_ports(size, lambda _: True))
        routes = ", ".join(f"nats://{LOOPBACK}:{port}" for port in ports)
        self.nodes = tuple(
            NatsServer(
                home / f"node{number}",
                fsync=fsync,
                config=(
                    f"server_name: node{number}\n"
                    f"cluster {{ name: armka, listen: {LOOPBACK}:{port}, routes: [{routes}] }}\n"
                ),
            )
            for number, port in enumerate(ports, start=1)
        )

    @property
    def url(self) -> str:
        """The addresses of all nodes."""
        return ",".join(node.url for node in self.nodes)

    def env(self) -> dict[str, str]:
        """The settings by which arm-ka's processes find the cluster, with every stream on each
        node.
        """
        return {"NATS_URL": self.url, "NATS_STREAM_REPLICAS": str(len(self.nodes))}

    def node(self, name: str) -> NatsServer:
        """The node that calls itself so."""
        return next(it for it in self.nodes if it.home.name == name)

    async def start(self) -> None:
        """Start all; streams can be made as soon as the nodes have found each other."""
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def stop(self) -> None:
        """Stop all."""
        await asyncio.gather(*(node.stop() for node in self.nodes))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
