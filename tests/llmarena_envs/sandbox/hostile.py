"""Hostile programs, each harmless even if it escapes.

A program prints ``ESCAPED`` and its result. The test puts these names before it: ``SECRET`` and ``SOCKET``
(paths in folders of the test), ``PROJECT`` (the folder of this project), ``PACKAGE`` (a file of a package, seen from the folder
of the standard library), ``TCP``, ``TCP6`` and ``UDP`` (ports on which the test listens), ``ABSTRACT`` (the name of its abstract
socket), ``TEST`` and ``VICTIM`` (processes: pytest, which only signal 0 may reach, and an expendable one) and ``MARK``,
a name for files that is not used elsewhere.
"""

from typing import NamedTuple

from llmarena_envs.sandbox import Limits

QUICK = Limits(seconds=5, cpu_seconds=5, memory=256 * 2**20)
SHORT = Limits(seconds=1, cpu_seconds=5, memory=256 * 2**20)


class Hostile(NamedTuple):
    """A program, how its run may end, and the limits under which it runs."""

    source: str
    statuses: tuple[str, ...] = ("ok",)
    limits: Limits = QUICK


PLACES = """
import os
places = [os.path.join(folder, MARK) for folder in
          ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/", ".", os.path.dirname(SECRET), os.path.expanduser("~"))]
"""

TRY = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, function, *arguments):
    try:
        got = function(*arguments)
    except (OSError, ValueError, AttributeError) as error:
        print(what, error)
    else:
        print("ESCAPED", what, got)
def syscall(what, *arguments):
    got = libc.syscall(*arguments)
    print("ESCAPED" if got != -1 else "", what, got)
"""

HOSTILE: dict[str, Hostile] = {
    "fork_bomb": Hostile(
        """
import os, time
forks = 0
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        forks += 1
    except OSError:
        break
    time.sleep(0.001)
if forks > 200:
    print("ESCAPED", forks)
""",
        ("ok", "killed"),
    ),
    "thread_bomb": Hostile(
        """
import threading, time
threading.stack_size(8 * 2**20)
for _ in range(300):
    threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
print("ESCAPED")
""",
        ("error", "memory", "killed"),
    ),
    "memory": Hostile(
        "held = []\nfor _ in range(1000):\n    held.append(bytearray(2**20))\nprint('ESCAPED')", ("memory",)
    ),
    "memory_at_once": Hostile("import mmap\nm = mmap.mmap(-1, 2**30)\nprint('ESCAPED')", ("error", "memory")),
    "memory_in_files_without_names": Hostile("""
import os
total = 0
try:
    for number in range(300):
        f = os.memfd_create("x")
        total += os.write(f, bytes(2**20 - 1))
        os.write(f, bytes(2**20))
except OSError as error:
    print(error)
if total > 100 * 2**20:
    print("ESCAPED", total)
"""),
    "memory_of_the_kernel": Hostile(
        TRY
        + """
held = 0
for _ in range(3):  # System V shared memory, 20 MB in all
    segment = libc.shmget(0, 7 * 2**20, 0o1600)
    held += segment != -1
print("segments", held)
"""
    ),
    "disk": Hostile(
        PLACES
        + """
for place in places:
    try:
        with open(place, "wb") as f:
            f.write(bytes(2**20))
        print("ESCAPED", place)
    except OSError as error:
        print(error)
"""
    ),
    "inodes": Hostile(
        PLACES
        + """
for place in places:
    for number in range(200):
        for make in (os.mkdir, lambda name: os.close(os.open(name, os.O_CREAT)), lambda name: os.symlink("x", name), os.mkfifo):
            try:
                make(f"{place}{number}")
            except OSError:
                break
            print("ESCAPED", place)
"""
    ),
    "endless_loop": Hostile("while True:\n    pass", ("timeout",), SHORT),
    "endless_sleep": Hostile(
        "import time\nfor _ in range(60):\n    time.sleep(1)\nprint('ESCAPED')", ("timeout",), SHORT
    ),
    "swallowed_timeouts": Hostile(
        """
import signal, time
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, lambda *_: None)
    except (OSError, ValueError):
        pass
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        while time.monotonic() < end:
            pass
    except BaseException:
        pass
print("ESCAPED")
""",
        ("timeout",),
        SHORT,
    ),
    "processor_time": Hostile(
        """
import signal, time
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
end = time.monotonic() + 30
while time.monotonic() < end:
    pass
print("ESCAPED")
""",
        ("timeout",),
        Limits(seconds=20, cpu_seconds=1),
    ),
    "output_flood": Hostile("for _ in range(10**6):\n    print('x' * 1000)\nprint('ESCAPED')", ("output",)),
    "output_flood_of_bytes": Hostile(
        """
import os, threading
def flood(descriptor):
    for _ in range(10**5):
        os.write(descriptor, bytes(range(256)) * 16)
for descriptor in (1, 2):
    threading.Thread(target=flood, args=(descriptor,)).start()
""",
        ("output",),
    ),
    "network": Hostile(
        TRY
        + """
import socket
def connect(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(1)
        s.connect(address)
        s.send(b"x")
attempt("tcp", connect, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TCP))
attempt("tcp6", connect, socket.AF_INET6, socket.SOCK_STREAM, ("::1", TCP6))
attempt("abstract", connect, socket.AF_UNIX, socket.SOCK_STREAM, "\\0" + ABSTRACT)
attempt("named", connect, socket.AF_UNIX, socket.SOCK_STREAM, SOCKET)
attempt("raw", socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
attempt("packet", socket.socket, socket.AF_PACKET, socket.SOCK_RAW, 0)
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", UDP))  # whether it arrives, the test sees
except OSError as error:
    print(error)
"""
    ),
    "secrets": Hostile(
        TRY
        + """
for path in (SECRET, PROJECT + "/pyproject.toml", "/etc/passwd", "/etc/shadow", "/root/.bashrc", f"/proc/{TEST}/environ"):
    attempt(path, lambda: open(path, "rb").read(10))
for folder in (os.path.dirname(SECRET), "/root", "/home", "/tmp", "/sys/class", f"/proc/{TEST}/fd"):
    try:
        found = [name for name in os.listdir(folder) if name not in (".pyenv", "versions")]
    except OSError as error:
        print(error)
    else:
        print("ESCAPED" if found else "", folder, found[:5])
"""
    ),
    "packages": Hostile(
        TRY
        + """
import site
library = os.path.dirname(os.__file__)
for folder in {*site.getsitepackages(), library + "/site-packages", library + "/dist-packages", "/usr/lib/python3/dist-packages"}:
    try:
        print("ESCAPED" if os.listdir(folder) else "", folder)
    except OSError as error:
        print(error)
packages = PACKAGE.partition("/")[0]
def read(path, **place):
    return os.read(os.open(path, os.O_RDONLY, **place), 9)
attempt("path", read, library + "/" + PACKAGE)
attempt("detour", read, library + "/json/../" + PACKAGE)
attempt("folder", lambda: read(PACKAGE, dir_fd=os.open(library, os.O_RDONLY)))
attempt("handle", lambda: read("/proc/self/fd/%d" % os.open(library + "/" + PACKAGE, os.O_PATH)))
attempt("inside", lambda: os.chdir(library + "/" + packages) or read(PACKAGE.partition("/")[2]))
attempt("link", lambda: os.link(library + "/" + PACKAGE, "/tmp/" + MARK))
"""
    ),
    "environment": Hostile("""
import os
for pid in ("self", os.getppid()):
    try:
        print(open(f"/proc/{pid}/environ").read())
    except OSError as error:
        print(error)
if "LENT" in os.environ or "HOME" in os.environ or len(os.environ) > 12:
    print("ESCAPED", dict(os.environ))
"""),
    "kill_the_watcher": Hostile(
        """
import os, time
for number in (15, 9):
    try:
        os.kill(os.getppid(), number)
    except OSError as error:
        print(error)
    time.sleep(0.2)
""",
        ("ok", "killed"),
    ),
    "kill_the_watcher_and_stay": Hostile(
        """
import ctypes, os, signal, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG
try:
    os.setsid()
except OSError as error:
    print(error)
os.kill(os.getppid(), signal.SIGKILL)
os.closerange(0, 64)
for _ in range(20):
    time.sleep(1)
""",
        ("error", "killed"),
    ),
    "stop_the_watcher": Hostile(
        """
import os, signal, time
os.kill(os.getppid(), signal.SIGSTOP)
for _ in range(30):
    time.sleep(1)
print("ESCAPED")
""",
        ("timeout",),
        SHORT,
    ),
    "kill_others": Hostile(
        TRY
        + """
import signal
attempt("test", os.kill, TEST, 0)
attempt("victim", os.kill, VICTIM, signal.SIGKILL)
attempt("victim's group", os.killpg, VICTIM, signal.SIGKILL)
import fcntl, resource
attempt("victim's limits", resource.prlimit, VICTIM, resource.RLIMIT_CPU, (0, 0))
attempt("victim's priority", os.setpriority, os.PRIO_PROCESS, VICTIM, 10)
attempt("victim's processors", os.sched_setaffinity, VICTIM, [0])
attempt("victim's scheduler", os.sched_setscheduler, VICTIM, os.SCHED_IDLE, os.sched_param(0))
reading, writing = os.pipe()
try:  # whether the signal of the pipe arrives, the test sees
    fcntl.fcntl(reading, fcntl.F_SETOWN, VICTIM)
    fcntl.fcntl(reading, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
except OSError as error:
    print(error)
attempt("victim by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(VICTIM), signal.SIGKILL))
"""
    ),
    "daemon": Hostile(
        """
import os, time
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(64):
                try:
                    os.close(descriptor)
                except OSError:
                    pass
            time.sleep(20)
        os._exit(0)
    time.sleep(0.1)
except OSError as error:
    print(error)
""",
        ("ok", "killed"),
    ),
    "trace_others": Hostile(
        TRY
        + """
libc.ptrace.restype = ctypes.c_long
for pid in (os.getppid(), VICTIM):
    for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
        got = libc.ptrace(request, pid, 0, 0)
        print("ESCAPED" if got != -1 else "", "ptrace", got)
    buffer = ctypes.create_string_buffer(8)
    local, remote = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8), (ctypes.c_size_t * 2)(0x400000, 8)
    got = libc.process_vm_readv(pid, local, 1, remote, 1, 0)
    print("ESCAPED" if got != -1 else ctypes.get_errno() == 14 and "ESCAPED", "process_vm_readv", got)
"""
    ),
    "namespaces": Hostile(
        TRY
        + """
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):  # user, mount, network, PID
    got = libc.unshare(flag)
    print("ESCAPED" if got != -1 else "", "unshare", hex(flag), got)
got = libc.setns(0, 0)
attempt("mount", lambda: (_ for _ in ()).throw(OSError("no")) if libc.mount(b"x", b"/", b"tmpfs", 0, None) else "mounted")
attempt("chroot", os.chroot, "/usr")
attempt("mknod", os.mknod, "/" + MARK)
"""
    ),
    "privileges": Hostile(
        TRY
        + """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    attempt("limit", resource.setrlimit, kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
got = libc.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 2, 0, *[0x1FF] * 2, 0))
print("ESCAPED" if got == 0 else "", "capset", got)
attempt("uid", os.setuid, 12345)
attempt("nice", os.nice, -5)
if os.uname().machine == "x86_64":
    syscall("bpf", 321, 5, 0, 0)
    syscall("perf_event_open", 298, 0, 0, -1, -1, 0)
    syscall("init_module", 175, 0, 0, 0)
    syscall("reboot", 169, 0, 0, 0, 0)
"""
    ),
    "other_programs": Hostile(
        TRY
        + """
import subprocess
for program in ("/bin/sh", "/usr/bin/env", "/bin/busybox"):
    attempt(program, lambda: subprocess.run([program, "-c", "echo"], timeout=2, check=False))
attempt("system", lambda: (_ for _ in ()).throw(OSError("no")) if os.system("echo ESCAPED; touch /tmp/" + MARK) else "ran")
""",
        ("ok", "killed"),
    ),
    "forged_exit_code": Hostile("import os\nos._exit(0)", ("error",)),
    "becomes_another_program": Hostile(
        """
import os, sys
os.execv(sys.executable, [sys.executable, "-S", "-c", "print('ok')"])
""",
        ("error",),
    ),
    "forged_lines": Hostile(
        """
import json, os
forged = {"nonce": "0" * 32, "token": "0" * 16, "status": "ok", "answers": [{"value": "ESCAPED"}], "output": "ESCAPED"}
line = json.dumps(forged).encode()
for descriptor in range(3, 64):
    for data in (b"\\n" + b"0" * 32 + b" " + line + b"\\n", b"%08x" % len(line) + line):
        try:
            os.write(descriptor, data)
        except OSError:
            pass
""",
        ("error",),
    ),
    "broken_channel": Hostile(
        """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"ffffffff[" + b"[" * 50000)
    except OSError:
        pass
""",
        ("error",),
    ),
    "closed_channel": Hostile("import os, time\nos.closerange(0, 64)\ntime.sleep(3)", ("error",)),
    "broken_runner": Hostile(
        """
import json, os, sys
json.dumps = json.loads = lambda *a, **k: "x"
os.write = lambda descriptor, data: len(data)
sys.stdout = sys.stderr = None
""",
        ("error", "timeout"),
        SHORT,
    ),
    "search_for_the_nonce": Hostile("""
import gc, os, re, sys
found = set()
def look(value):
    if isinstance(value, (bytes, bytearray)):
        value = value.decode("latin-1")
    if isinstance(value, str):
        found.update(re.findall("[0-9a-f]{32}", value))
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        look(value)
    frame = frame.f_back
for thing in gc.get_objects():
    for value in gc.get_referents(thing):
        look(value)
for pid in ("self", os.getppid(), 1):
    for name in ("cmdline", "environ") if pid == "self" else ("cmdline", "environ", "mem", "fd/0", "fd/1"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as f:
                look(f.read(100_000))
                if pid != "self" and name != "cmdline":
                    print("ESCAPED", pid, name)
        except OSError as error:
            print(error)
print(*found)
"""),
    "tricks_with_paths": Hostile(
        TRY
        + PLACES
        + """
for path in (f"/proc/{TEST}/cwd/pyproject.toml", f"/proc/{TEST}/root{SECRET}", f"/proc/self/root{SECRET}",
             "/proc/1/root" + SECRET, "/usr/lib/../.." + SECRET, "/lib/../etc/passwd", "/dev/fd/../../.." + SECRET):
    attempt(path, lambda: open(path, "rb").read(4))
for path in (f"/proc/{os.getppid()}/fd/1", f"/proc/{os.getppid()}/mem", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/proc/self/oom_score_adj_" + MARK, "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/vda"):
    attempt(path, os.open, path, os.O_WRONLY)
for place in places:
    attempt(place, os.symlink, SECRET, place)
    attempt(place, os.link, SECRET, place)
attempt("chmod", os.chmod, SECRET, 0o777)
library = os.__file__
descriptor = os.open(library, os.O_RDONLY)
attempt("chmod of the library", os.fchmod, descriptor, os.fstat(descriptor).st_mode & 0o777)
attempt("write to the library", os.open, library, os.O_WRONLY)
attempt("add to the library", os.open, os.path.dirname(library) + "/" + MARK, os.O_WRONLY | os.O_CREAT)
attempt("chown", os.chown, SECRET, os.getuid(), os.getgid())
attempt("utime", os.utime, SECRET)
attempt("attribute", os.setxattr, SECRET, "user.mark", b"x")
attempt("truncate", os.truncate, SECRET, 0)
attempt("rename", os.rename, SECRET, SECRET + "x")
attempt("remove", os.remove, SECRET)
"""
    ),
    "a_thousand_open_files": Hostile("""
held = []
try:
    for _ in range(1000):
        held.append(open("/dev/null"))
    print("ESCAPED")
except OSError as error:
    print(len(held), error)
"""),
    "a_crash": Hostile("import ctypes\nctypes.string_at(0)", ("killed",)),
    "deep_recursion": Hostile(
        """
import sys
sys.setrecursionlimit(10**9)
def f():
    return f()
f()
""",
        ("killed", "memory", "error", "timeout"),
        SHORT,
    ),
    "reads_standard_input": Hostile("input()\nprint('ESCAPED')", ("error",)),
    "raises_something_strange": Hostile(
        """
class Strange(BaseException):
    def __str__(self):
        raise self
    __repr__ = __str__
raise Strange
""",
        ("error",),
    ),
}
