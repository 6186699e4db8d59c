"""
A CloudWatch agent's EMF socket: a real listener on 127.0.0.1 that reads, closes, resets or stops.
"""

from __future__ import annotations

import queue
import select
import socket
import struct
import threading

LINGER_0 = struct.pack("ii", 1, 0)  # closing is then a reset


class Agent:
    """
    A listener that takes lines as the agent does: until the connection ends.

    Attributes:
        lines: Whole lines it read, of all connections.

        connections: How many there were.

        is_reading: Whether it reads at all.
    """

    def __init__(self, family=socket.AF_INET, port=0):
        host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        self.listener = socket.create_server((host, port), family=family)
        self.port = self.listener.getsockname()[1]
        self.endpoint = (
            f"tcp://[{host}]:{self.port}" if ":" in host else f"tcp://{host}:{self.port}"
        )
        self.lines: list[str] = []
        self.connections = 0
        self.is_reading = True
        self.unread: dict[socket.socket, bytes] = {}  # open connections, with half a line each
        self.orders: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        """One thread does it all, so that a connection really ends when it is closed."""
        with self.listener:
            while True:
                sources = [self.listener, *(self.unread if self.is_reading else ())]
                for ready in select.select(sources, [], [], 0.005)[0]:
                    if ready is self.listener:
                        self.unread[self.listener.accept()[0]] = b""
                        self.connections += 1
                    else:
                        self.read(ready)
                while not self.orders.empty():
                    order = self.orders.get()
                    order()
                    if order == self.hang_up_for_good:
                        return

    def read(self, connection):
        """Keep whole lines."""
        try:
            found = connection.recv(65_536)
        except OSError:
            found = b""
        if not found:
            del self.unread[connection]
            connection.close()
            return
        *lines, self.unread[connection] = (self.unread[connection] + found).split(b"\n")
        self.lines += [line.decode() for line in lines]

    def hang_up(self):
        """End all connections, as a restart does."""
        for connection in self.unread:
            connection.close()
        self.unread.clear()

    def reset(self):
        """End all connections as a crash may."""
        for connection in self.unread:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
        self.hang_up()

    def hang_up_for_good(self):
        """Listen no more."""
        self.hang_up()

    def say(self, words):
        """Answer, as the agent never does."""
        for connection in self.unread:
            connection.sendall(words)

    def end(self):
        """Hang up, and wait until nobody listens."""
        self.orders.put(self.hang_up_for_good)
        self.thread.join()
