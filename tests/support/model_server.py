"""`transformers serve` on loopback: a real OpenAI-compatible server for a model in a directory."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 120.0
"""How long a server may take to be ready; it takes some 5 s on an idle core."""


@dataclass(frozen=True)
class ModelServer:
    """A running server.

    Attributes:
        url: base address, ending in ``/v1``.
        model: the name under which the server knows its model.
        port: the port.
        process: the process, the leader of a process group of its own.
    """

    url: str
    model: str
    port: int
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """Kills the server with SIGKILL, and every process it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=30)


@contextlib.contextmanager
def running_server(model_dir: Path, port: int | None = None) -> Iterator[ModelServer]:
    """Runs a server, and always stops it; the caller can kill it before.

    Args:
        model_dir: directory of the model, e.g. of ``make_tiny_model``.
        port: the port; by default a free one.

    Raises:
        RuntimeError: if the server ends or is not ready in time; with the end of its output.
    """
    port = port or _free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+b") as log:
        cache = Path(folder) / "hf"
        (cache / "hub").mkdir(parents=True)
        environment = {
            **os.environ,
            "HF_HOME": str(cache),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model_dir), "--device", "cpu"]
        command += ["--host", "127.0.0.1", "--port", str(port), "--log-level", "error"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        server = ModelServer(f"http://127.0.0.1:{port}/v1", str(model_dir), port, process)
        try:
            _wait_until_ready(server, Path(log.name))
            yield server
        finally:
            server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(server: ModelServer, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            break
        if _is_healthy(server.port):
            return
        time.sleep(0.1)
    printed = log.read_text(errors="replace")[-3000:]
    raise RuntimeError(
        f"the model server on port {server.port} is not ready (exit status {server.process.poll()}):\n{printed}"
    )


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
