"""``llmarena play``, on the terminal and in a browser."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from agents.baselines.default_opponents import default_opponent
from agents.human_queue import HumanQueue
from agents.play import play
from agents.registry import make_policy
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment
from rating.cli import main, serve
from rating.cli.app import build_parser
from rating.cli.play import fill_seats, run_file
from rating.play import run_directory

ENVIRONMENTS = [entry.name for entry in CATALOGUE]


def text(*arguments, **specs):
    """Returns the run file of a command, and the policies on its seats."""
    args = build_parser().parse_args(["play", *arguments, "--web"])
    agents = make_environment(args.env, {}).possible_agents
    seated = fill_seats(args.env, specs, agents)
    return run_file(args, seated, seed=0), seated


def test_play_prints_the_result(capsys):
    seats = ["--policy", "player_0=minimax", "--policy", "player_1=first_legal"]
    command = ["play", "tictactoe_v0", *seats, "--seed", "3"]
    assert main(command) == 0
    shown = "minimax (player_0) won.\nminimax (player_0): +1\nfirst_legal (player_1): -1\n"
    assert shown in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    episode = json.loads(capsys.readouterr().out)
    assert episode["rewards"] == {"player_0": 1.0, "player_1": -1.0}


@pytest.mark.parametrize("answers", [["y", "n"], [""], ["yes", EOFError], [KeyboardInterrupt]])
def test_person_at_a_terminal_is_asked_to_play_again(capsys, monkeypatch, answers):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def readline(self, *_):
            return "1\n"

    def answer(question):
        asked.append(question)
        if isinstance(given := answers[len(asked) - 1], str):
            return given
        raise given

    asked = []
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("agents.human._typed", lambda source: asyncio.sleep(0))
    monkeypatch.setattr("builtins.input", answer)
    assert main(["play", "tictactoe_v0", "--seed", "4"]) == 0
    matches = 1 + (answers[0] in ("y", "yes"))
    assert asked == [f"Play again with seed {seed}? [y/N] " for seed in (5, 6)[:matches]]
    assert capsys.readouterr().out.count("minimax (player_1) won.\nYou (player_0): -1\n") == matches


def test_unreachable_model_is_reported_before_the_match(capsys, monkeypatch):
    monkeypatch.setattr("agents.models.preflight.PAUSE", 0.01)
    seats = ["--policy", "player_0=openai:mock:base_url=http://127.0.0.1:9/v1", "--policy", "player_1=random"]
    assert main(["play", "tictactoe_v0", *seats]) == 3
    assert "connection refused" in (errors := capsys.readouterr().err)
    assert "check base_url, and that the server is running" in errors


def test_person_reads_legal_moves_and_history(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("?\nnonsense\nX: (1, 1)\n"))
    assert main(["play", "tictactoe_v0", "--policy", "player_1=first_legal"]) == 130  # the input ends in mid-match
    shown, errors = capsys.readouterr()
    assert errors == "llmarena: the input has ended\n"
    assert shown.startswith("You (player_0) against first_legal (player_1), seed 0\n")
    assert "Legal moves:\n[1] X: (1, 1)" in shown
    assert "Moves so far: X: (1, 1), O: (1, 2)" in shown


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_free_seats_get_a_person_and_baselines(name):
    agents = make_environment(name, {}).possible_agents
    _, seated = text(name)
    person = next(agent for agent in agents if load_environment(name).declaration.is_rated(agent))
    assert [agent for agent in agents if seated[agent] == "human"] == [person]
    opponents = {agent: make_policy(default_opponent(name, agent), name) for agent in agents}
    episode = play(make_environment(name, {}), opponents, seed=2)
    assert not any(episode.forfeit(agent) for agent in agents)
    assert not any(turn.fallback for turn in episode.turns)


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("everybody", [False, True])
def test_people_can_take_any_seat(name, everybody):
    agents = make_environment(name, {}).possible_agents
    specs = dict.fromkeys(agents if everybody else agents[-1:], "human")
    config = run_directory.check_run_file(text(name, **specs)[0], "command line").run.config
    assert len(config.people()) == len(specs)


def test_taken_port_is_refused_and_makes_no_directory(tmp_path, capsys):
    with serve.listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert main(["play", "tictactoe_v0", "--web", "--port", port, "--out", str(tmp_path / "run")]) == 2
    assert "free" in capsys.readouterr().err and not (tmp_path / "run").exists()


@pytest.mark.slow
def test_match_without_people_is_printed_as_json(tmp_path, capsys):
    seats = ("--policy", "player_0=greedy", "--policy", "player_1=greedy")
    command = ["play", "tictactoe_v0", "--web", "--json", "--port", "0", "--out", str(tmp_path / "run"), *seats]
    assert main(command) == 0
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    assert record["status"] == "finished" and record["match"]["options"] == {}
    assert [seat["policy"] for seat in record["outcome"]["seats"]] == ["greedy player_0", "greedy player_1"]
    assert "is shown at http://127.0.0.1:" in printed.err
    assert main(command) == 0
    assert (tmp_path / "run-2" / "run.db").exists()


@pytest.mark.slow
def test_failed_match_prints_the_resume_command(tmp_path, capsys):
    seats = ("--policy", "player_0=random", "--policy", "player_1=tests.rating.players:raises")
    assert main(["play", "tictactoe_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"), *seats]) == 3
    printed = capsys.readouterr()
    assert "The match failed: " in printed.out and ": +0" not in printed.out
    assert f"llmarena resume {tmp_path / 'run'} --web" in printed.err


class Person(threading.Thread):
    """Plays by plain requests: gives the first legal move until the run has ended, or leaves after some.

    Args:
        screen: where the address is printed.
        moves: after which the process is interrupted.
        matches: after which the person stops; 0 to interrupt the process after the first one.
    """

    def __init__(self, screen, moves=100, matches=1):
        super().__init__(daemon=True)
        self._screen = screen
        self._moves = moves
        self._choices = [*["again"] * (matches - 1), "stop"] if matches else []
        self.address = self.last = ""
        self.offered = []

    def run(self):
        try:
            self._play()
        except BaseException:
            os.kill(os.getpid(), signal.SIGINT)  # nobody else would end the command
            raise

    def _play(self):
        while not (found := re.search(r"^human plays at (\S+)$", self._screen.getvalue(), re.MULTILINE)):
            time.sleep(0.01)
        self.address = found[1]
        while "The run has ended" not in self.last:
            with urllib.request.urlopen(self.address) as answer:
                self.last = answer.read().decode()
            question = re.search(r'name="question" value="([^"]+)"', self.last)
            offered = re.search(r"and seed (\d+)\.", self.last)
            if (question and not self._moves) or (offered and not self._choices):
                os.kill(os.getpid(), signal.SIGINT)
                return
            if question:
                self._moves -= 1
                reply = re.search(r'<button name="reply" value="([^"]+)"', self.last)[1]
                self._send(question=question[1], reply=reply)
            if offered:
                self.offered.append(int(offered[1]))
                self._send(next=self._choices.pop(0))

    def _send(self, **fields):
        action = re.findall(r'<form method="post" action="([^"]+)"', self.last)[0]
        data = urllib.parse.urlencode(fields).encode()
        urllib.request.urlopen(urllib.parse.urljoin(self.address, action), data=data).close()


@pytest.mark.slow
def test_person_plays_again_at_the_same_address(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    person = Person(screen, matches=3)
    person.start()
    assert main(["play", "tictactoe_v0", "--web", "--seed", "7", "--out", str(tmp_path / "run")]) == 0
    assert person.offered == [8, 9, 10]
    assert re.findall(r"^human plays at (\S+)$", screen.getvalue(), re.MULTILINE) == [person.address] * 3
    seeds = set()
    for name in ("run", "run-2", "run-3"):
        run, store = run_directory.open_run(tmp_path / name)
        [record] = store.records()
        store.close()
        assert record.outcome.status == "finished" and [seat.policy for seat in record.outcome.seats][1] == "minimax"
        seeds.add(run.config.seed)
    assert seeds == {7, 8, 9} and not (tmp_path / "run-4").exists()


@pytest.mark.slow
def test_interrupting_the_offer_of_another_match_is_no_failure(tmp_path, monkeypatch, capfd):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    Person(screen, matches=0).start()
    assert main(["play", "tictactoe_v0", "--web", "--out", str(tmp_path / "run")]) == 0
    assert "resume" not in capfd.readouterr().err


@pytest.mark.slow
def test_two_plays_at_once_take_other_ports_and_directories(tmp_path):
    def start(*flags):
        command = [sys.executable, "-m", "rating.cli", "play", "tictactoe_v0", *flags]
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    pages, terminals = [start("--web") for _ in range(2)], [start() for _ in range(2)]
    addresses = [page.stdout.readline().rpartition(" plays at ")[2].strip() for page in pages]
    for terminal in terminals:
        assert terminal.communicate("(1, 1)\n")[0].count("You play X.") == 2
    for address in addresses:
        with urllib.request.urlopen(address) as answer:
            assert "You (player_0) against minimax (player_1)" in answer.read().decode()
    assert len({urllib.parse.urlsplit(address).port for address in addresses}) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["llmarena-play", "llmarena-play-2"]
    for page in pages:
        page.send_signal(signal.SIGINT)
        assert "llmarena resume llmarena-play" in page.communicate()[1]


@pytest.mark.slow
def test_interrupted_match_resumes_at_the_same_address(tmp_path, monkeypatch, capfd):
    def run(*arguments, **person):
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stdout", screen)
        playing = Person(screen, **person)
        playing.start()
        return main([*arguments]), playing, screen.getvalue()

    directory = str(tmp_path / "run")
    code, before, printed = run("play", "connect_four_v0", "--web", "--port", "0", "--out", directory, moves=2)
    port = str(urllib.parse.urlsplit(before.address).port)
    assert code == 130 and printed == f"human plays at {before.address}\n"
    assert f"llmarena resume {directory} --web --port {port}" in capfd.readouterr().err
    code, after, printed = run("resume", directory, "--web", "--port", port)
    assert printed.count("http://") == 2  # of the player and of the board: the owner of the run resumes it
    assert code == 0 and after.address == before.address and "It is your move" in before.last
    assert "matches" in printed
    assert main(["replay", directory, "--verify"]) == 0


def test_pages_close_after_the_waiting_time(monkeypatch, capsys):
    monkeypatch.setattr(serve, "_AT_ONCE_SECONDS", 0.01)
    monkeypatch.setattr(serve, "END_SECONDS", 0.02)
    queue = HumanQueue()
    queue.seat("Ada", "m", "tictactoe_v0", {}).reset("player_0", 1)
    asyncio.run(serve.show_end(queue))
    assert queue.ended and "until all players have seen the end" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["play", "tictactoe_v0", "--web", "--out"], ["serve"]])
def test_missing_web_extra_is_refused_without_a_directory(command, tmp_path, monkeypatch, capsys):
    directory = tmp_path / "run"
    if command == ["serve"]:
        _, store = run_directory.create(directory, text("tictactoe_v0")[0], "here")
        store.close()
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main([*command, str(directory)]) == 2
    assert "'uvicorn', which is not installed: pip install 'llmarena-envs[web]'" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
