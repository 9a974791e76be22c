import numpy as np
import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.writer_editor.game import MAX_TEXT, Abstention, Given, Scores, Text, WriterEditor
from llmarena_envs.writer_editor.objective import Measure
from llmarena_envs.writer_editor.task_types import Document, Problem

PROBLEM = Problem("p", "Add.", "add", "def add(a, b):\n    return a + b", ("assert add(1, 2) == 3",))
NOTE = Document("d", "Ja.", "Yes.", "de", "en")
SHARE = Measure("pass", 1.0, lambda text, task: {"good": 1.0, "half": 0.5}.get(text, 0.0))
"""A measure: the program ``good`` passes all tests, ``half`` passes half of them."""


def started(task="code_review", tasks=None, seed=0, **options):
    options = {"max_rounds": 3, "n_judges": 1, "measures": (SHARE,), **options}
    game = WriterEditor(task, tasks or [PROBLEM if task == "code_review" else NOTE], **options)
    game.reset(np.random.default_rng(seed))
    return game


def play(game, *texts):
    for text in texts:
        game.apply((Text(text),))
    return game


def scores(writer, editor):
    return Scores(Given(writer), Given(editor))


def test_the_order_of_turns_until_the_last_round():
    game = started(n_judges=2)
    movers = []
    while game.to_move:
        movers.append(game.to_move)
        game.apply(tuple(scores(5, 5) if game.stage == "judge" else Text("x") for _ in game.to_move))
    assert movers == [("writer_0",), ("editor_0",)] * 3 + [("judge_0", "judge_1")]
    assert sum(map(len, movers)) == game.max_turns == 8
    assert not game.consensus and not game.undecided


def test_consensus_ends_the_rounds():
    game = play(started(), "a", "better b", "b", "over")
    assert game.consensus and game.round == 2
    assert game.to_move == ("judge_0",)
    assert game.drafts == ("a", "b") and game.edits == ("better b", "over")
    assert play(started(), "a", "It is over").to_move == ("writer_0",)
    assert play(started(consensus_token="done"), "a", "over", "b", "done").consensus


def test_agents_read_texts_for_their_role():
    game = play(started(n_judges=2), "a", "b")
    told = [(message.round, message.sender, message.text) for message in game.view("judge_1").messages]
    assert told == [(1, "writer_0", "a"), (1, "editor_0", "b")]
    assert game.view("writer_0").messages == game.view("editor_0").messages == game.view("judge_0").messages
    play(game, "c", "over").apply((scores(10, 10), Abstention()))
    assert len(game.view("judge_1").messages) == 4
    assert "10" not in repr(game.view("judge_1"))


def test_rewards_are_the_means_of_the_judges_scores():
    game = play(started(n_judges=3, max_rounds=1), "a", "b")
    game.apply((scores(6, 9), Abstention(), scores(7.5, 2)))
    assert game.rewards == (6.75, 5.5, 0.0, 0.0, 0.0)
    assert not game.undecided and game.to_move == ()
    about = {agent: game.statistics(agent) for agent in game.agents}
    assert [about[agent]["spread"] for agent in game.agents[:2]] == [0.75, 3.5]
    assert about["writer_0"]["abstentions"] == 1
    assert [about[f"judge_{k}"]["abstentions"] for k in range(3)] == [0, 1, 0]
    assert [about[f"judge_{k}"]["score_editor"] for k in range(3)] == [9, -1, 2]


def test_a_match_without_any_score_is_undecided():
    game = play(started(n_judges=2, max_rounds=1), "a", "b")
    game.apply((Abstention(), Abstention()))
    assert game.undecided and game.rewards == (0.0,) * 4
    assert game.statistics("writer_0")["abstentions"] == 2
    assert game.statistics("writer_0")["spread"] == -1
    game.reset(np.random.default_rng(0))
    assert not game.undecided


@pytest.mark.parametrize(
    ("texts", "first", "last", "consensus"),
    [
        (("bad", "no", "half", "no", "good", "yes"), 0, 1, 0),
        (("half", "over"), 0.5, 0.5, 1),
        (("good", "no", "bad", "over"), 1, 0, 1),
    ],
)
def test_the_first_and_the_last_program_are_measured(texts, first, last, consensus):
    game = play(started(), *texts)
    assert game.statistics("writer_0")["pass_last"] == -1  # secret until the match is over
    game.apply((scores(1, 1),))
    for agent in game.agents:
        known = game.statistics(agent)
        assert (known["pass_first"], known["pass_last"], known["consensus"]) == (first, last, consensus)


def test_a_program_is_measured_once():
    asked = []
    measure = Measure("pass", 1.0, lambda text, task: asked.append((text, task.task_id)))
    game = play(started(measures=(measure,)), "a", "no", "a", "over")
    assert asked == [("a", "p")]
    game.apply((scores(1, 1),))
    assert game.statistics("writer_0")["pass_last"] == -1  # what cannot be measured is not known


@pytest.mark.parametrize(
    ("texts", "last"),
    [(("half", "good"), 1), (("half", "over"), 0.5), (("half", ""), 0), (("half", "bad", "good", "over"), 1)],
)
def test_translations_result_is_the_polished_text(texts, last):
    game = play(started("translation", max_rounds=len(texts) // 2), *texts)
    assert game.measured == ((0.5, last),)


def test_without_judges_the_measure_pays():
    game = play(started(n_judges=0), "half", "no", "good", "over")
    assert game.to_move == () and game.rewards == (10.0, 10.0)
    game = play(started("translation", n_judges=0, max_rounds=1), "half", "good")
    assert game.rewards == (5.0, 10.0) and game.max_turns == 2
    unknown = Measure("pass", 1.0, lambda text, task: None)
    assert play(started(n_judges=0, measures=(unknown,)), "a", "over").undecided
    with pytest.raises(OptionError, match="n_judges: expected at least 1"):
        started(n_judges=0, measures=())


def test_empty_texts_are_counted():
    game = play(started(max_rounds=2), "", "no", "", "")
    assert game.default_action("judge_0") == Abstention()
    game.apply((Abstention(),))
    assert [game.statistics(agent)["empty"] for agent in game.agents] == [2, 1, 0]
    assert game.statistics("editor_0")["length"] == 0
    assert started().default_action("writer_0") == Text("")


def test_long_texts_are_illegal_as_others_read_them():
    game = started()
    assert game.why_illegal("writer_0", Text("x" * (MAX_TEXT - 2))) is None
    assert game.why_illegal("writer_0", Text("x" * (MAX_TEXT - 1))).name == "too_long"
    assert game.why_illegal("writer_0", Text("\n" * (MAX_TEXT // 2))).fields["length"] > MAX_TEXT


def test_actions_of_other_stages_and_bad_scores_are_illegal():
    game = started(max_rounds=1)
    assert game.why_illegal("writer_0", scores(5, 5)).name == "wrong_stage"
    assert game.why_illegal("writer_0", Abstention()).name == "wrong_stage"
    play(game, "a", "b")
    assert game.why_illegal("judge_0", Text("over")).name == "wrong_stage"
    assert game.why_illegal("judge_0", Abstention()) is None
    for score in (0, 0.9, 10.1, 11, -1, float("nan"), float("inf")):
        assert game.why_illegal("judge_0", scores(5, score)).name == "off_the_scale"
        assert game.why_illegal("judge_0", scores(score, 5)).name == "off_the_scale"
    assert game.why_illegal("judge_0", scores(1, 10)) is None


def test_forfeit_costs_the_offender_and_judges_void_the_result():
    game = started(n_judges=2, max_rounds=1)
    assert game.forfeit(("editor_0",)) == (0.0, -1.0, 0.0, 0.0)
    assert not game.undecided
    game = play(started(n_judges=2, max_rounds=1), "a", "b")
    assert game.forfeit(("judge_0",)) == (0.0, 0.0, -1.0, 0.0)
    assert game.undecided
    assert started(n_judges=0).forfeit(("writer_0",)) == (-1.0, 0.0)


def test_the_task_is_drawn_from_the_seed():
    problems = [PROBLEM._replace(task_id=str(number)) for number in range(5)]
    drawn = [started(tasks=problems, seed=seed).view("writer_0").assignment.task_id for seed in range(40)]
    assert set(drawn) == set("01234")
    assert drawn == [
        started(tasks=problems, seed=seed, n_judges=3).view("judge_2").assignment.task_id for seed in range(40)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": 11}, "max_rounds"),
        ({"n_judges": 10}, "n_judges"),
        ({"n_judges": True}, "n_"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        started(**options)
