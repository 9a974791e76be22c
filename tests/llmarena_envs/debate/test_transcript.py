"""The story of a debate."""

import pytest

from llmarena_envs import debate_v0
from llmarena_envs.core.transcript import Scene

QUESTION = [{"id": "q", "domain": "writing", "question": "What is a bridge?"}]
FIRST = ("[[A]] since it is shorter", "[[B]]", "Not [[A]].\n[[Tie]]", "abstain")
LAST = ("[[B]] after all", "[[B]]", "abstain", "[B]")


def debated(*judgements, **options):
    """Returns the environment after a debate of parts called by their turn, and what judges then say."""
    env = debate_v0.raw_env(**{"questions": QUESTION, "n_judges": 4, **options})
    env.reset(seed=1)
    for number in range(len(env.game.turns)):
        actions = env.game.view(env.agent_selection).actions
        env.step("".join(f"<{action}>{action} {number}</{action}>" for action in ("think", *actions)))
    for judgement in judgements:
        env.step(judgement)
    return env


def spoken(env):
    """Returns the parts of the debate itself."""
    return [scene for scene in env.transcript() if scene.speaker.startswith("debater")]


@pytest.mark.parametrize(
    ("options", "hidden"),
    [
        ({}, {"think": ["opponent"]}),
        ({"visibility": "restricted"}, {"think": ["opponent"], "criticize": ["opponent"]}),
        ({"judge_sees_think": False}, {"think": ["opponent", "judge_0", "judge_1"]}),
    ],
)
def test_transcript_names_readers_of_hidden_parts(options, hidden):
    for scene in spoken(debated(n_judges=2, **options)):
        opponent = {"debater_0": "debater_1", "debater_1": "debater_0"}[scene.speaker]
        expected = hidden.get(scene.text.split()[0], [])
        assert scene.hidden_from == tuple(opponent if name == "opponent" else name for name in expected)


def test_transcript_marks_verdicts_changed_by_discussion():
    env = debated(*FIRST, *LAST)
    _, b = env.game.sides
    *_, decision = story = env.transcript()
    judged = [(scene.speaker, scene.heading, scene.marks) for scene in story if scene.speaker.startswith("judge")]
    assert judged == [
        ("judge_0", "verdict: A", ()),
        ("judge_1", "verdict: B", ()),
        ("judge_2", "verdict: tie", ()),
        ("judge_3", "no verdict", ()),
        ("judge_0", "verdict: B", ("changed from A to B",)),
        ("judge_1", "verdict: B", ()),
        ("judge_2", "no verdict", ("The earlier verdict stands: tie",)),
        ("judge_3", "verdict: B", ()),
    ]
    tallies = [scene.text for scene in story if scene.heading == "What the committee stands at"]
    assert tallies == [
        "1 for A, 1 for B, 1 for a tie, 1 without a verdict",
        "0 for A, 3 for B, 1 for a tie, 0 without a verdict",
    ]
    assert decision == Scene(
        f"B wins: {b}",
        "judge_0: A before discussion, B in the end\n"
        "judge_1: B before discussion, B in the end\n"
        "judge_2: tie before discussion, tie in the end\n"
        "judge_3: none before discussion, B in the end\n"
        f"Before discussion: {tallies[0]}: tie\n"
        f"In the end: {tallies[1]}: B",
        marks=("1 of 4 judges changed their verdict", "the discussion changed the decision"),
    )


def test_transcript_translates_second_order_to_true_sides():
    story = debated("[[A]]", "[[B]]", n_judges=1, both_orders=True).transcript()
    assert [scene.heading for scene in story if scene.speaker == "judge_0"] == ["verdict: A", "verdict: A"]
    assert (story[-1].heading[:7], story[-1].text.split(": ")[0]) == ("A wins:", "In the end")


def test_flaws_of_a_turn_are_marked():
    env = debate_v0.raw_env(questions=QUESTION, n_judges=0, words=10)
    env.reset(seed=1)
    env.step(f"<raise>too early</raise><respond>{'word ' * 40}</respond>")
    env.step("<criticize>weak</criticize>")
    marks = {scene.heading: scene.marks for scene in env.transcript()}
    assert marks["A responds"] == ("1 part dropped that this turn must not have", "cut at the limit")
    assert marks["B criticizes"] == ()
    assert marks["B raises a follow-up request"] == ("asked for and not given",)


def test_an_examiner_and_the_writer_of_a_reference_are_named():
    env = debate_v0.raw_env(domain="math", n_judges=2)
    env.reset(seed=1)
    assert env.transcript() == ()
    env.step("(1). What is 2 + 2, and why is it so?")
    while env.agent_selection != "judge_0":
        env.step("<respond>4</respond>")
    env.step("It is 4.")
    story = env.transcript()
    assert (story[0].speaker, story[0].heading) == ("examiner_0", "The question (mathematics)")
    assert story[-1] == Scene("A reference answer, for the judges", "It is 4.", "judge_0")
