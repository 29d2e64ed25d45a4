"""Real PostgreSQL, NATS, S3 and OpenBao from wheels, for development, demonstration and tests."""

from armka.stack.errors import StackError
from armka.stack.nats import NatsServer
from armka.stack.nats_cluster import NatsCluster
from armka.stack.object_store import ObjectServer
from armka.stack.openbao import OpenBaoServer
from armka.stack.postgres import PostgresServer
from armka.stack.server import Server
from armka.stack.whole import Stack

__all__ = [
    "NatsCluster",
    "NatsServer",
    "ObjectServer",
    "OpenBaoServer",
    "PostgresServer",
    "Server",
    "Stack",
    "StackError",
]
