"""Choice of the backend: the first that is available and isolates, or the user's choice."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from llmarena_envs.sandbox.backends.bubblewrap import Bubblewrap
from llmarena_envs.sandbox.backends.docker import Docker
from llmarena_envs.sandbox.backends.sandlock import Sandlock
from llmarena_envs.sandbox.backends.unisolated import Unisolated
from llmarena_envs.sandbox.programs import program_files
from llmarena_envs.sandbox.protocol import Limits, Sandbox, SandboxError
from llmarena_envs.sandbox.running import Backend, BackendSandbox

ISOLATING: Mapping[str, Callable[[], Backend]] = {
    "sandlock": Sandlock,
    "bubblewrap": Bubblewrap,
    "docker": Docker,
}
"""In the order of preference."""
BACKENDS = {**ISOLATING, "unisolated": Unisolated}
"""``unisolated`` protects nothing: never chosen automatically."""

_PROBE = """
import os, site, socket

def packages():
    found = []
    for folder in [*site.getsitepackages(), site.getusersitepackages()]:
        try:
            found += os.listdir(folder)
        except OSError:
            pass
    return bool(found)

def reads(path):
    try:
        open(path).close()
        return True
    except OSError:
        return False

def writes(path):
    try:
        open(path + ".new", "x").close()
        return True
    except OSError:
        return False

def connects(port):
    try:
        with socket.socket() as s:
            s.settimeout(1)
            s.connect(("127.0.0.1", port))
        return True
    except OSError:
        return False
"""

_SHELL_PROBE = """
import subprocess

def say():
    command = "echo hello > /home/file && cat /home/file"
    return subprocess.run(["/usr/bin/bash", "-c", command], capture_output=True, text=True).stdout
"""


@cache
def find_sandbox(name: str = "auto") -> Sandbox:
    """Returns a sandbox that works on this machine.

    A small test program tries to read a file, the solutions of the packaged tasks and other packages, to write a file and to
    reach a port. A backend that allows any of these is rejected.

    Args:
        name: "auto" for the first that isolates; or one of ``BACKENDS``. "unisolated" is only used by name.

    Raises:
        SandboxError: there is none; the message names missing parts and commands to install them.
    """
    if not hasattr(os, "fork"):
        raise SandboxError(
            f"model-written programs are run on Linux and macOS only, got {sys.platform}: what watches them needs fork and"
            " poll; on Windows install llmarena-envs in the Linux of its Subsystem for Linux (WSL)"
        )
    if name == "auto":
        reasons = []
        for candidate in ISOLATING:
            try:
                return find_sandbox(candidate)
            except SandboxError as error:
                reasons.append(f"{candidate}: {error}")
        raise SandboxError(
            "model-written programs are not run, because nothing on this machine isolates them. "
            + "; ".join(reasons)
            + '. To run them all the same, name the backend "unisolated"'
        )
    if name not in BACKENDS:
        raise SandboxError(f"expected a sandbox of auto, {', '.join(BACKENDS)}, got {name!r}")
    sandbox = BackendSandbox(BACKENDS[name]())
    if name != "unisolated":
        _hold(sandbox)
    return sandbox


@cache
def find_shell() -> Sandbox:
    """Returns a sandbox whose programs can start bash and coreutils with ``Limits.processes``; only bubblewrap can.

    Raises:
        SandboxError: there is none; the message names missing parts and commands to install them.
    """
    sandbox = find_sandbox("bubblewrap")
    program_files()
    result = sandbox.run(_SHELL_PROBE, ["say()"], Limits(seconds=30, processes=2))
    if result.status != "ok" or result.values[0].value != "hello\n":
        raise SandboxError(
            f"bash does not run in bubblewrap (0.7 or later is needed): {result.detail or result.output}"
        )
    return sandbox


def _hold(sandbox: Sandbox) -> None:
    """Raises if a program can do a forbidden operation."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        port = server.getsockname()[1]
        solutions = str(files("llmarena_envs") / "writer_editor" / "data" / "problems.jsonl")
        calls = [
            f"reads({str(secret)!r})",
            f"reads({solutions!r})",
            "packages()",
            f"writes({str(secret)!r})",
            f"connects({port})",
        ]
        result = sandbox.run(_PROBE, calls, Limits(seconds=30))
    if result.status != "ok":
        raise SandboxError(f"it does not work: {result.detail}")
    if [value.value for value in result.values] != [False] * len(calls):
        raise SandboxError(
            "it does not hold: a program could read or write files outside, read packages, or reach the network"
        )
