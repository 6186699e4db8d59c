"""
Serve List with gRPC's own library on the kubelet's socket: `grpc_server.py SOCKET MODE ANSWER`.

It is a process, because its threads would make forks of the tests unsafe. It serves until its
standard input ends. ANSWER is a file. MODE is the name of a status, or a mode below.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import grpc

COMPRESSED = "compressed"
SILENT_SERVER = "silent"
STOPPING = "stopping"


def serve(path, mode, answer):
    """Serve *answer* on *path* in the given mode."""
    compression = grpc.Compression.Gzip if mode == COMPRESSED else grpc.Compression.NoCompression
    released = Event()

    def list_pods(_request, call):
        if mode == SILENT_SERVER:
            released.wait()
        elif mode == STOPPING:
            server.stop(grace=60)
        elif mode not in ("OK", COMPRESSED):
            call.abort(grpc.StatusCode[mode], "`rm` " * 100)
        return answer

    with ThreadPoolExecutor(1) as executor:
        server = grpc.server(executor, compression=compression)
        handler = grpc.unary_unary_rpc_method_handler(list_pods)
        generic = grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": handler})
        server.add_generic_rpc_handlers((generic,))
        server.add_insecure_port(f"unix:{path}")
        server.start()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        released.set()
        server.stop(grace=None)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes())
