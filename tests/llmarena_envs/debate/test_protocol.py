"""Both sides are symmetric in protocol, texts and play; the order of turns is the paper's."""

import re
from collections import Counter

import pytest

from llmarena_envs.debate.protocol import FIRST_ANSWERS, debate_turns
from llmarena_envs.debate.questions import DOMAINS
from tests.llmarena_envs.debate.matches import debated, say, started, turn_text

LONG = ("writing", "roleplay", "coding", "humanities")


def told_limit(env):
    """Returns the limit in the text of the agent to move."""
    guide = env.observe(env.agent_selection)["text"].rpartition("\n\n")[2]
    return int(re.search(r"at most (\d+) words|最多 (\d+) 字", guide).group(1, 2)[env.codec.language == "zh"])


@pytest.mark.parametrize(
    ("opener", "turns"),
    [
        ("A", ["1Ar", "1Bcq", "1Ar", "2Br", "2Acq", "2Br", "3Acq", "3Brcq", "3Ar"]),
        ("B", ["1Ar", "1Bcq", "1Ar", "2Br", "2Acq", "2Br", "3Bcq", "3Arcq", "3Br"]),
    ],
)
def test_turns_follow_the_protocol(opener, turns):
    letters = {"respond": "r", "criticize": "c", "raise": "q"}
    protocol = debate_turns(opener)
    assert [f"{turn.round}{turn.side}{''.join(map(letters.get, turn.actions))}" for turn in protocol] == turns
    assert [turn.fresh for turn in protocol].index(True) == 3 and sum(turn.fresh for turn in protocol) == 1


@pytest.mark.slow_except(6)
@pytest.mark.parametrize("opener", ["A", "B"])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("domain", [None, *DOMAINS])
def test_both_sides_have_same_actions_and_limits(opener, language, domain):
    env = started(domain=domain, language=language, round3_opener=opener, n_judges=0)
    told: Counter = Counter()
    actions = {"A": Counter(), "B": Counter()}
    turns = Counter()
    while not any(env.terminations.values()):
        view = env.view(env.agent_selection)
        told[view.side] += told_limit(env)
        actions[view.side].update(view.actions)
        turns[view.side] += 1
        say(env, turn_text(env))
    words = 2000 if domain in LONG else 1500
    assert told == dict.fromkeys("AB", words if language == "en" else words * 3 // 2)
    assert actions["A"] == actions["B"] == {"respond": 3, "criticize": 2, "raise": 2}
    assert turns == ({"A": 5, "B": 4} if opener == "A" else {"A": 4, "B": 5})


@pytest.mark.parametrize("opener", ["A", "B"])
@pytest.mark.parametrize(("language", "piece"), [("en", "word "), ("zh", "字")])
def test_both_sides_are_cut_at_the_same_total(opener, language, piece):
    env = started(language=language, round3_opener=opener, n_judges=0)
    while not any(env.terminations.values()):
        view = env.view(env.agent_selection)
        room = 2000 // len(view.actions)
        say(env, "".join(f"<{action}>{piece * room}</{action}>" for action in view.actions))
    lengths = {
        side: sum(
            len(passage.text.split()) if language == "en" else len(passage.text)
            for passage in env.game.passages
            if passage.side == side
        )
        for side in "AB"
    }
    assert lengths == dict.fromkeys("AB", 1500 if language == "en" else 2250)
    for agent in env.game.sides:
        assert env.infos[agent]["words"] == 1500
    assert [env.infos[agent]["truncated"] for agent in env.game.sides] == ([5, 4] if opener == "A" else [4, 5])


def test_words_override_the_domains():
    env = started(words=50, domain="coding", n_judges=0)
    assert told_limit(env) == 50
    while len(env.view(env.agent_selection).actions) < 3:
        say(env, turn_text(env))
    assert told_limit(env) == env.view(env.agent_selection).words == 100


def test_first_answers_are_asked_for_in_the_same_words():
    env = started()
    first = env.observe(env.agent_selection)["text"]
    for _ in range(3):
        say(env, turn_text(env))
    assert env.observe(env.agent_selection)["text"] == first
    assert env.observe(env.agent_selection)["fresh_history"] == 1
    only = started(judge_initial_only=True)
    texts = []
    for _ in FIRST_ANSWERS:
        texts.append(only.observe(only.agent_selection)["text"])
        say(only, turn_text(only))
    assert texts == [first, first] and only.view("judge_0").stage == "judge"


def test_paired_seeds_swap_only_the_sides():
    sides = [started(seed).game.sides[0] for seed in range(40)]
    assert 10 < sides.count("debater_0") < 30
    env = started(7, questions="builtin")
    other = started(7, questions="builtin", number=env.game.number)
    assert other.game.sides == env.game.sides and other.game.question == env.game.question


def test_a_debate_ends_after_nine_turns():
    env = debated(started(n_judges=0))
    assert [delivery.side for delivery in env.game.deliveries] == list("ABABABABA")
