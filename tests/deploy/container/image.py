"""
The image, built of the Containerfile as it is by buildah, which needs no engine.

What cannot be had here is replaced, by arguments that the file has anyway: the base by a
Debian of the same release with Debian's Python, AWS's repository by a signed double. Packages of
Python come from a folder, so that the build itself needs no network.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.deploy.container.containerfile import ARGUMENTS, CONTAINERFILE, ROOT
from tests.deploy.container.tools_double import make_repository, said
from tests.programs import run_program

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("buildah", "mmdebstrap", "gpg", "dpkg-deb", "unshare", "nsenter")
RELEASE = ARGUMENTS["BASE"].rpartition("-")[2]
BASE_VERSION = 2  # another one makes the cached base anew
PINS = (ROOT / "requirements" / "emitter.txt", ROOT / "deploy" / "container" / "build.txt")
WHEELS_IN_BUILD = "/mnt"  # a folder that every base has: a mount makes its own, and it would stay


def missing() -> str:
    """Why no image can be built here; empty when one can."""
    if os.geteuid() != 0:
        return "an image is built by root only"
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def make_base(tar: Path) -> None:
    """
    What stands for the base: small, with Python and pip, without compiled modules as its original.

    Raises:
        OSError: If it cannot be had, as without a network.
    """
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    part = tar.with_name(f"{os.getpid()}-{tar.name}")
    ended = run_program(
        [
            "mmdebstrap",
            "--variant=minbase",
            "--include=ca-certificates,python3,python3-venv",
            "--customize-hook=find \"$1/usr/lib\" -name '*.pyc' -delete",
            *excluded,
            RELEASE,
            str(part),
        ],
        stdin=subprocess.DEVNULL,
    )
    if ended.returncode:
        part.unlink(missing_ok=True)
        lines = ended.stderr.strip().splitlines() or [""]
        msg = f"a root of Debian {RELEASE} cannot be made: {lines[-1]}"
        raise OSError(msg)
    part.replace(tar)


def make_wheels(folder: Path, python_version: str) -> None:
    """Every pinned wheel for the image's Python, by the pip that made the test's environment."""
    machine = platform.machine()
    for pins in PINS:
        said(
            sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps",
            "--only-binary=:all:", "--implementation=cp", f"--python-version={python_version}",
            f"--platform=manylinux2014_{machine}", f"--platform=manylinux_2_28_{machine}",
            f"--dest={folder}", f"--requirement={pins}",
        )  # fmt: skip


@dataclass(frozen=True)
class Image:
    """
    What was built.

    Attributes:
        rootfs: Its files.

        config: Its configuration, as an engine reads it.

        layers: Bytes of each layer, compressed and not; the first is what stands for the base.

        refused: What the build said when it was asked for something wrong, by what was wrong.
    """

    rootfs: Path
    config: dict[str, Any]
    layers: list[tuple[int, int]]
    refused: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Image:
        """As `build` left it."""
        found = json.loads((folder / "image.json").read_text("utf-8"))
        return cls(folder / "rootfs", found["config"], found["layers"], found["refused"])


class Builder:
    """A store of images of its own, which is gone at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._wheels = folder / "wheels"
        self._pip = folder / "pip.conf"
        self._wheels.mkdir()
        self._pip.write_text(f"[global]\nno-index = true\nfind-links = {WHEELS_IN_BUILD}\n")

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """One call."""
        store = [f"--root={self._folder / 'store'}", f"--runroot={self._folder / 'run'}"]
        return run_program(
            ["buildah", *store, "--storage-driver=overlay", *arguments],
            env={**os.environ, "TMPDIR": str(self._folder)},
            stdin=subprocess.DEVNULL,
        )

    def must(self, *arguments: object) -> str:
        """One call that succeeds; what it printed."""
        ended = self.run(*arguments)
        assert 0 == ended.returncode, ended.stdout[-4000:] + ended.stderr[-4000:]
        return ended.stdout.strip()

    def import_base(self, tar: Path) -> str:
        """Take *tar* as the image `localhost/base`; the version of its Python."""
        container = self.must("from", "scratch")
        self.must("add", "--quiet", container, tar, "/")
        self.must("commit", "--quiet", container, "localhost/base")
        self.must("rm", container)
        container = self.must("from", "localhost/base")
        program = "import sys; print('%d.%d' % sys.version_info[:2])"
        version = self.must("run", "--isolation=chroot", container, "python3", "-c", program)
        self.must("rm", container)
        make_wheels(self._wheels, version)
        return version

    def build(self, *options: str, **arguments: str) -> subprocess.CompletedProcess[str]:
        """The Containerfile, with the base replaced and *arguments*."""
        given = {"BASE": "localhost/base", **arguments}
        return self.run(
            "build", "--isolation=chroot", "--format=docker", "--pull=never",
            f"--volume={self._wheels}:{WHEELS_IN_BUILD}:ro",
            f"--volume={self._pip}:/etc/pip.conf:ro",
            *(f"--build-arg={name}={value}" for name, value in given.items()),
            *options, f"--file={CONTAINERFILE}", "--tag=localhost/neuron-emf", ROOT,
        )  # fmt: skip

    def keep(self, folder: Path, refused: dict[str, str]) -> None:
        """Leave what an `Image` reads in *folder*, and nothing else of the store."""
        container = self.must("from", "localhost/neuron-emf")
        mounted = self.must("mount", container)
        said("cp", "--archive", mounted, folder / "rootfs")
        self.must("umount", container)
        described = json.loads(self.must("inspect", "--type=image", "localhost/neuron-emf"))
        blobs = folder / "pushed" / "blobs" / "sha256"
        self.must("push", "--quiet", "localhost/neuron-emf", f"oci:{folder / 'pushed'}:it")
        index = json.loads((folder / "pushed" / "index.json").read_text("utf-8"))
        manifest = json.loads(blob(blobs, index["manifests"][0]).read_text("utf-8"))
        layers = [(one["size"], unpacked_bytes(blob(blobs, one))) for one in manifest["layers"]]
        shutil.rmtree(folder / "pushed")
        self.must("rm", "--all")
        self.must("rmi", "--all", "--force")
        found = {"config": described["Docker"]["config"], "layers": layers, "refused": refused}
        (folder / "image.json").write_text(json.dumps(found), encoding="utf-8")


def build(folder: Path, base: Path) -> None:
    """Build it, and try to build it of what must be refused."""
    site, signs, stranger = make_repository(folder)
    builder = Builder(folder)
    builder.import_base(base)
    handler = functools.partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        repository = f"http://127.0.0.1:{server.server_port}"
        right = {"NEURON_REPOSITORY": repository, "NEURON_KEY": signs}
        ended = builder.build(**right)
        assert 0 == ended.returncode, ended.stdout[-4000:] + ended.stderr[-4000:]
        refused = {
            what: said_no(builder.build("--target=tools", **{**right, **wrong}))
            for what, wrong in {
                "key": {"NEURON_KEY": stranger},
                "version": {"NEURON_TOOLS_VERSION": "2.1.0.0"},
            }.items()
        }
        server.shutdown()
        thread.join()
    builder.keep(folder, refused)


class QuietHandler(SimpleHTTPRequestHandler):
    """Files, and no word about them."""

    def log_message(self, *_arguments: object) -> None:
        """Nothing is said."""


def said_no(ended: subprocess.CompletedProcess[str]) -> str:
    """What a build that failed has printed; empty for one that did not fail."""
    return ended.stdout + ended.stderr if ended.returncode else ""


def blob(folder: Path, described: dict[str, Any]) -> Path:
    """The file of a digest."""
    return folder / described["digest"].partition(":")[2]


def unpacked_bytes(path: Path) -> int:
    """Bytes of a layer before it was compressed."""
    with gzip.open(path) as file:
        return sum(map(len, iter(lambda: file.read(1 << 20), b"")))
