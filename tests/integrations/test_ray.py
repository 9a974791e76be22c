"""Matches in the workers of a real Ray cluster: identical results after any worker dies, clear errors without a cluster."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store.records import FINISHED, VOID
from tests.docs.pages import code_blocks
from tests.docs.shell import commands
from tests.support.killed import SetUp, check_killed, left_alone

pytestmark = pytest.mark.timeout(180)

HERE = "tests.rating.players"
MARK = "LLMARENA_TEST_OF_RAY"
"""An environment variable that marks all processes of a run and their children."""

POOL = "".join(f'[[policy]]\nspec = "{spec}"\n' for spec in ("random", "greedy", "first_legal"))
TWO_GAMES = f"""
seed = 9
stop = {{ min_matches = 8, max_matches = 8 }}
environment = [{{ name = "tictactoe_v0" }}, {{ name = "connect_four_v0" }}]
{POOL}"""
ADAPTIVE = f"""
seed = 9
schedule = "adaptive"
stop = {{ min_matches = 10, max_matches = 20 }}
environment = [{{ name = "tictactoe_v0" }}]
{POOL}"""
SWISS = """
seed = 9
[[environment]]
name = "tests.rating.judged_env"
tournament = { questions = 4, min_judges = 3 }
""" + "".join(
    f'[[policy]]\nname = "m{index}"\nspec = "tests.rating.judged_env:Model"\noptions = {{ strength = {30 + 8 * index} }}\n'
    for index in range(5)
)


def on_page(begin):
    """Returns the words of the command of docs/executors.md that begins so."""
    known = [each for block in code_blocks("executors.md") if block.language == "bash" for each in commands(block.text)]
    (found,) = [shlex.split(each) for each in known if each.startswith(begin)]
    return found


def start_node(words, *options):
    """Starts a machine of a cluster by a command of the page."""
    command = "import sys; from ray.scripts.scripts import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", command, *words, "--block", "--num-cpus=1", *options],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """The address of a cluster of two machines with one worker slot each; the default cluster of the tests."""
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # the names of sockets in it must stay short
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_AUTH_MODE", "token")
        patched.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)
        _, *words = on_page("ray start --head")
        nodes = [start_node([word.replace("=6379", "=0") for word in words], f"--temp-dir={folder}")]
        address = folder / "ray_current_cluster"
        wait_for(address.exists)
        patched.setenv("RAY_ADDRESS", head := address.read_text().strip())
        _, *words = on_page("ray start --address")
        nodes.append(start_node([word.replace("db.lab:6379", head) for word in words]))
        yield
    for node in reversed(nodes):
        node.terminate()
        node.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def run(directory, text, executor, capsys):
    """Plays a run, and returns its leaderboards, its digest and its records."""
    directory.mkdir(exist_ok=True)
    (directory / "run.toml").write_text(text)
    out = directory / executor
    code = main(["run", str(directory / "run.toml"), "--out", str(out), "--executor", executor])
    errors = capsys.readouterr().err
    assert code == 0, errors
    assert main(["rate", str(out), "--json"]) == 0
    _, store = run_directory.open_run(out)
    found = capsys.readouterr().out, store.digest(), list(store.records())
    store.close()
    return *found, errors


@pytest.mark.parametrize("text", [TWO_GAMES, SWISS, ADAPTIVE], ids=["two games at once", "swiss", "adaptive"])
def test_cluster_gives_same_leaderboards_and_digest(tmp_path, capsys, text):
    here, there = (run(tmp_path, text, executor, capsys) for executor in ("asyncio", "ray"))
    assert there[:2] == here[:2]
    assert len(there[2]) > 10


def duels(spec, options, matches=4):
    return f"""
seed = 4
stop.matches = {matches}
[[environment]]
name = "tictactoe_v0"
seats = ["other", "random"]
[[policy]]
spec = "random"
[[policy]]
name = "other"
spec = "{HERE}:{spec}"
options = {{ {options} }}
"""


def test_match_continues_after_its_worker_is_killed(tmp_path, capsys):
    folder = tmp_path / "seen"
    folder.mkdir()
    text = duels("SaysWhere", f'folder = "{folder}", seconds = 0.3')

    def kill_one():
        wait_for(lambda: len(list(folder.iterdir())) == 2)
        *_, latest = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
        os.kill(int(latest.name), signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    *there, records, errors = run(tmp_path, text, "ray", capsys)
    killer.join()
    assert "workers that died in this session: 1;" in errors
    assert [(record.status, record.tries) for record in records] == [(FINISHED, 1)] * 4
    assert there == list(run(tmp_path, text, "asyncio", capsys)[:2])


def test_resumed_run_after_killing_everything_equals_undisturbed(tmp_path):
    with left_alone(tmp_path) as whole:
        check_killed(SetUp("ray", False, ("actor", "client")), 4, tmp_path / "run", whole, None, seed="ray")


def test_match_with_two_dead_workers_is_void(tmp_path, capsys):
    (tmp_path / "run.toml").write_text(duels("KillsItsProcess", "how = 3", matches=1))
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run"), "--executor", "ray"]) == 3
    _, store = run_directory.open_run(tmp_path / "run")
    (record,) = store.records()
    store.close()
    assert (record.status, record.tries) == (VOID, 1)
    assert record.error.startswith("2 workers died, one after the other, at a match of other, random: worker ")


def test_policy_missing_on_cluster_machines_is_no_bug(tmp_path, capsys, monkeypatch):
    (tmp_path / "elsewhere.py").write_text("""
import sys
if "ray" in sys.modules:
    raise ImportError("it is not on this machine")
from agents.policy import ScriptedPolicy
class Policy(ScriptedPolicy):
    def __call__(self, view):
        return self.choose(view.legal)
""")
    monkeypatch.syspath_prepend(tmp_path)
    assert "ray" not in sys.modules
    (tmp_path / "run.toml").write_text(duels("SaysWhere", "").replace(f"{HERE}:SaysWhere", "elsewhere:Policy"))
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run"), "--executor", "ray"]) == 3
    errors = capsys.readouterr().err
    assert "it is not on this machine" in errors
    assert "the modules of your own policies and environments" in errors
    assert "Resume with: llmarena resume" in errors
    _, store = run_directory.open_run(tmp_path / "run")
    assert {record.status for record in store.records()} == {"unfinished"}
    store.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "which cannot be reached: [Errno 111] Connection refused"),
        ("ray://127.0.0.1:10001", "expected HOST:PORT of the head of a Ray cluster, got 'ray://127.0.0.1:10001'"),
    ],
)
def test_unreachable_cluster_is_reported_at_once(tmp_path, capsys, monkeypatch, address, said):
    monkeypatch.setenv("RAY_ADDRESS", address)
    (tmp_path / "run.toml").write_text(TWO_GAMES)
    begun = time.monotonic()
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run"), "--executor", "ray"]) == 3
    assert said in capsys.readouterr().err
    assert time.monotonic() - begun < 30  # Ray itself would try for minutes


@pytest.fixture
def under_way(tmp_path):
    """A run that is played in a cluster and takes long; ends with everything that was started."""
    folder, mark = tmp_path / "seen", str(uuid.uuid4())
    folder.mkdir()
    text = duels("SaysWhere", f'folder = "{folder}", seconds = 0.1', matches=1000)
    (tmp_path / "run.toml").write_text("workers = 1" + text)
    command = ["run", tmp_path / "run.toml", "--out", tmp_path / "run", "--executor", "ray"]

    def start(**environment):
        with (tmp_path / "errors").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "rating.cli", *map(str, command)],
                env={**os.environ, **environment, MARK: mark},
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        wait_for(lambda: any(folder.iterdir()))
        return process

    yield start, mark, folder
    for left in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)


def marked(mark):
    """Returns the numbers of all processes that were started with a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def workers_ended(folder):
    return not any(Path(f"/proc/{path.name}").exists() for path in folder.iterdir())


def test_an_interruption_from_the_keyboard_ends_the_workers(tmp_path, under_way):
    start, mark, folder = under_way
    process = start()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(40) == 130
    wait_for(lambda: workers_ended(folder) and not marked(mark), 40)
    errors = (tmp_path / "errors").read_text()
    assert errors.endswith(f"Resume with: llmarena resume {tmp_path / 'run'} --executor ray\nllmarena: interrupted\n")
    for sign in ("Traceback", "died", "pending"):
        assert sign not in errors


def test_cluster_started_for_a_run_ends_with_it_even_if_killed(under_way):
    start, mark, _ = under_way
    process = start(RAY_ADDRESS="local")
    assert len(marked(mark)) > 4
    process.kill()
    process.wait(40)
    wait_for(lambda: not marked(mark), 40)


def test_run_that_loses_its_cluster_can_be_resumed(tmp_path, under_way):
    start, mark, folder = under_way
    process = start()
    (driver,) = (number for number in marked(mark) if os.getpgid(number) == number != process.pid)
    os.kill(driver, signal.SIGKILL)
    assert process.wait(40) == 3
    errors = (tmp_path / "errors").read_text()
    assert "was lost: what drives it was killed by SIGKILL" in errors
    assert "Resume with: llmarena resume" in errors
    wait_for(lambda: workers_ended(folder), 40)
