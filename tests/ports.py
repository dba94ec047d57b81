"""Ports for the servers of tests."""
import contextlib
import random
import socket


def free_ports(count):
    """The first of `count` neighbours that nobody listens at. They lie below the ports that systems give to outgoing
    connections, so that no other process of this machine gets one by chance before the test takes it."""
    for first in random.SystemRandom().sample(range(20000, 32000 - count), 1000):
        with contextlib.ExitStack() as probes:
            try:
                for port in range(first, first + count):
                    probes.enter_context(socket.socket()).bind(("0.0.0.0", port))
            except OSError:
                continue
            return first
    raise OSError("no free port between 20000 and 32000")
