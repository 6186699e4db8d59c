"""Start a server that npm installed in `.real/npm`, on a free port of 127.0.0.1."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE_MODULES: Final = Path(__file__).resolve().parents[2] / ".real" / "npm" / "node_modules"
CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "us-east-1",
}
SCRIPT: Final = """
// The server throws when a client aborts a request. AWS's service would continue.
process.on('uncaughtException', error => {
  if (error.code !== 'ECONNRESET') { console.error(error); process.exit(1) }
})
process.stdin.on('end', () => process.exit()).resume()  // the end of the process that started it
const server = require(process.argv[1])(JSON.parse(process.argv[2]))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
"""


def missing(package: str) -> str | None:
    """Return why the server *package* cannot run here, or None."""
    for name, is_here in (
        (package, (NODE_MODULES / package).is_dir()),
        ("node", shutil.which("node") is not None),
    ):
        if not is_here:
            return f"{name} is not installed; run proof/real/install.sh {package}"
    return None


def versions(package: str) -> dict[str, str]:
    """Return the versions of the server and of Node.js."""
    about = json.loads((NODE_MODULES / package / "package.json").read_text("utf-8"))
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return {package: about["version"], "node": node.stdout.strip().removeprefix("v")}


@contextmanager
def serving(package: str, options: dict[str, int]) -> Iterator[str]:
    """Start the server *package* with *options*, yield its address, and stop it."""
    command = ["node", "-e", SCRIPT, package, json.dumps(options)]
    environment = {**os.environ, "NODE_PATH": str(NODE_MODULES), "NODE_NO_WARNINGS": "1"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, f"{package} ended with {process.wait()} before it listened"
            yield f"http://127.0.0.1:{port}"
            assert process.poll() is None, f"{package} ended with {process.returncode}"
        finally:
            process.kill()
