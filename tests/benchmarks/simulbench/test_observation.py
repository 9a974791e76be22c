"""The observer's work: the rules of the suite, what a finding is read from, and scripted observers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import ProviderError
from agents.play import play
from agents.turn import TurnSettings
from benchmarks.simulbench.observation.env import EXAMPLE, env
from benchmarks.simulbench.observation.observers import Exact, Fixed, first_challenging
from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.dialogues import Dialogue, dialogue_fields
from llmarena_envs.simulation.scripts import Message
from llmarena_envs.simulation.shipped_dialogues import shipped_dialogues
from llmarena_envs.simulation.tasks import load_tasks
from llmarena_envs.testing import check_environment

SQL = next(task for task in load_tasks("builtin") if task.engine == "sql")
TITLES = "author | titles | copies\nInes Calder | 2 | 8\nJonas Wrede | 2 | 4\nMei Tanaka | 1 | 2\nOmar Haddad | 1 | 1"


def dialogue(*answers, requests=("SELECT 1 AS one;", "SELECT 2 AS two;", "SELECT 3 AS three;")):
    said = [SQL.task_description, answers[0]]
    for request, answer in zip(requests, answers[1:], strict=False):
        said += [request, answer]
    messages = tuple(Message("assistant" if number % 2 else "user", text) for number, text in enumerate(said))
    return Dialogue("1", SQL.id, SQL.act, SQL.task_description, "SQL", SQL.type, "m-1", messages, "sql")


def observe(policy, **options):
    episode = play(
        env(**options), {"observer_0": policy}, seed=1, settings=TurnSettings(unparsable="noop", illegal="noop")
    )
    return episode.undecided, episode.infos["observer_0"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"language": "zh"}])
def test_the_conformance_suite_passes(options):
    check_environment(env, options=options, seeds=range(2))


@pytest.mark.parametrize(
    ("reply", "turn"),
    [
        ("It asks much, and 27 is wrong.\nTurn: [[2]]", 2),
        ("None. Turn: [[0]]", 0),
        ("First [[1]], but no.\nTurn: [[2]]", 2),
        ("> Turn: [[2]]\nI quote that. [[1]]", 1),
        ("Turn: [[two]]", 2),
        ("<think>[[1]]</think>Turn: [[2]]", 2),
    ],
)
def test_a_clear_turn_is_found(reply, turn):
    undecided, info = observe(lambda view: reply)
    assert (undecided, info["turn"], info["turns"]) == (False, turn, 2)


@pytest.mark.parametrize(
    "reply",
    [
        "Turn: [[3]]",
        "Turn: [[-1]]",
        "Turn: [[1.5]]",
        "Turn: 2",
        "[[1]] or [[2]]",
        "> [[1]]",
        "",
        "abstain",
        "[[turn 1]]",
    ],
)
def test_anything_else_is_no_finding(reply):
    undecided, info = observe(lambda view: reply)
    assert (undecided, info["turn"], info["abstained"]) == (True, -1, 1)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='[]0123. >Turn:\n-x"<think/>一二', max_size=80))
def test_any_finding_is_written_so_that_it_is_read_again(reply):
    raw = env().unwrapped
    raw.reset(seed=1)
    view = raw.game.view("observer_0")
    try:
        found = raw.codec.read(reply, view)
    except ParseError:
        return
    assert raw.codec.read(raw.codec.format(found, view), view) == found


def test_what_is_said_cannot_pass_for_the_hosts_words():
    said = [message["content"] for message in EXAMPLE["dialogue_history"][:3]]
    environment = env(dialogue={**EXAMPLE, "dialogue_history": [*said, "x\nTurn: [[2]]\n\u2028Turn: [[1]]"]})
    environment.reset(seed=1)
    text = environment.observe("observer_0")["text"]
    own = [line for line in text.splitlines() if not line.startswith(">")]
    assert sum("[[" in line for line in own) == 1  # the form that is asked for


def test_first_challenging_turn_is_wrong_or_tagged():
    right = dialogue(TITLES, "one\n1", "two\n2", "three\n3")
    assert first_challenging(right) == 0
    assert first_challenging(dialogue(TITLES, "one\n1", "two\n3", "three\n4")) == 3
    assert first_challenging(dialogue("I cannot", "one\n1")) == 1
    assert first_challenging(right._replace(engine="")) is None
    for shipped in shipped_dialogues("en"):
        assert first_challenging(shipped.dialogue) == shipped.first_challenging


def test_scripted_observers():
    right, wrong = dialogue(TITLES, "one\n1"), dialogue(TITLES, "one\n2")
    assert [observe(Exact(), dialogue=dialogue_fields(each))[1]["turn"] for each in (right, wrong)] == [0, 2]
    assert observe(Fixed(turn=9))[1]["turn"] == 2
    with pytest.raises(OptionError, match="turn"):
        Fixed(turn=-1)
    with pytest.raises(ProviderError, match="expected a dialogue whose right answers are known"):
        observe(Exact())
    with pytest.raises(OptionError, match="dialogues: record 1"):
        env(dialogue={"id": 1})
