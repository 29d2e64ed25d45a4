"""Free TCP ports on loopback."""

import socket
from collections.abc import Callable
from random import SystemRandom

LOOPBACK = "127.0.0.1"

# Below the range from which systems take the ports of outgoing connections: such a connection
# cannot occupy a server's port while the server is being restarted.
_RANGE = range(15_000, 32_000)


def free_ports(count: int, suits: Callable[[int], bool]) -> list[int]:
    """`count` different free ports that suit; a server can still lose the race for one."""
    ports: set[int] = set()
    candidates = SystemRandom()
    while len(ports) < count:
        port = candidates.choice(_RANGE)
        if is_free(port) and suits(port):
            ports.add(port)
    return list(ports)


def is_free(port: int) -> bool:
    """Whether the port can be bound on loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
