"""Visibility, counts and verdicts."""

import pytest

from llmarena_envs.core.options import OptionError
from tests.llmarena_envs.debate.matches import QUESTION, debated, say, started

MATH = {"id": "m", "domain": "math", "question": "What is two plus two?"}
POEM = {"id": 7, "domain": "writing", "question": "Write a couplet about rain.", "reference": "Drip, drop."}


def judged(env, *verdicts):
    """Lets the judges give verdicts, ``-`` for an abstention."""
    return say(debated(env), *("abstain" if each == "-" else f"Because. [[{each}]]" for each in verdicts))


def text_of(env, agent):
    return env.observe(agent)["text"]


def test_thoughts_are_hidden_from_opponents_but_not_judges():
    for sees in (True, False):
        env = started(judge_sees_think=sees)
        first, second = env.game.sides
        say(env, "<think>my plan</think><respond>yes</respond>")
        assert "my plan" in text_of(env, first) and "my plan" not in repr((text_of(env, second), env.view(second)))
        assert all(("my plan" in text_of(env, judge)) == sees for judge in env.game.judges)
        assert env.game.passages[0].hidden_from == (("opponent",) if sees else ("opponent", "judge"))


def test_words_are_those_that_judges_read():
    for sees in (True, False):
        env = judged(started(judge_sees_think=sees, n_judges=1, judge_initial_only=True), "A")
        assert env.infos["debater_0"]["words"] == 3
        env = started(judge_sees_think=sees, n_judges=1, judge_initial_only=True)
        judged(say(env, "<think>one two</think><respond>three</respond>"), "A")
        assert env.infos[env.game.sides[0]]["words"] == (3 if sees else 1)


@pytest.mark.parametrize("visibility", ["paper", "restricted"])
def test_criticism_is_hidden_in_restricted_visibility_only(visibility):
    env = started(visibility=visibility)
    first, second = env.game.sides
    say(env, "yes", "<criticize>wrong</criticize><raise>why?</raise>")
    hidden = visibility == "restricted"
    text = text_of(env, first)
    assert "> why?" in text and ("> wrong" in text) != hidden
    assert ("has criticized and raised" in text) != hidden and ("has raised." in text) == hidden
    assert "> wrong" in text_of(env, second) and "> wrong" in text_of(env, "judge_3")


@pytest.mark.parametrize("visibility", ["paper", "restricted"])
def test_the_first_answer_of_b_is_blind_and_its_history_comes_back(visibility):
    env = started(visibility=visibility)
    _, second = env.game.sides
    say(env, "said by a", "<criticize>no</criticize><raise>why?</raise>", "said again by a")
    view = env.view(second)
    assert view.to_move and view.fresh and view.passages == () and view.actions == ("respond",)
    assert "said" not in text_of(env, second) and "> no" not in text_of(env, second)
    assert env.observe(second)["fresh_history"] == 1 and env.observe("judge_0")["fresh_history"] == 0
    say(env, "answer of b")
    assert not env.view(second).fresh
    assert all(said in text_of(env, second) for said in ("said by a", "> no", "why?", "said again by a", "answer of b"))


def test_forbidden_actions_are_dropped_and_counted():
    env = started(n_judges=1)
    first, second = env.game.sides
    say(env, "<respond>yes</respond><raise>what of you?</raise><criticize>nothing there</criticize>")
    assert [passage.action for passage in env.game.passages] == ["respond"]
    judged(env, "A")
    assert env.infos[first]["forbidden"] == 2 and env.infos[second]["forbidden"] == 0


def test_missing_actions_are_counted_and_debate_continues():
    env = started(n_judges=1)
    first, second = env.game.sides
    env.step("")
    env.step("I have nothing to criticize.")
    assert [(passage.action, passage.text) for passage in env.game.passages] == [
        ("respond", ""),
        ("criticize", ""),
        ("raise", ""),
    ]
    assert text_of(env, first).count("(no text)") == 3
    judged(env, "A")
    assert env.infos[first]["missing"] == 1 and env.infos[second]["missing"] == 2


def test_text_beyond_budget_is_cut_thoughts_first():
    env = started(n_judges=0)
    words = " ".join(f"w{number}" for number in range(400))
    say(env, f"<think>{words}</think><respond>{words[: words.index(' w250')]}</respond>")
    think, respond = env.game.passages
    assert len(respond.text.split()) == 250 and not respond.truncated
    assert think.text == words[: words.index(" w50")] and think.truncated
    say(env, f"<criticize>{words}</criticize><raise>why do you say so?</raise>")
    criticize, question = env.game.passages[2:]
    assert criticize.text == words[: words.index(" w295")] and criticize.truncated
    assert question.text == "why do you say so?" and not question.truncated
    say(env, f"<think>no</think><respond>{words}</respond>")
    assert [(each.action, each.truncated) for each in env.game.passages[4:]] == [("respond", True)]
    assert env.game.passages[4].text == words[: words.index(" w300")]


@pytest.mark.parametrize(("verdicts", "winner"), [("AAB", 0), ("ABB", 1), ("AB-", 2), ("--B", 1), ("---", -1)])
def test_the_committee_pays(verdicts, winner):
    env = judged(started(n_judges=3, discussion=False), *verdicts)
    first, second = env.game.sides
    reward = {0: 1.0, 1: -1.0}.get(winner, 0.0)
    assert (env.rewards[first], env.rewards[second]) == (reward, -reward)
    assert not any(env.rewards[judge] for judge in env.game.judges)
    assert env.game.undecided == (winner == -1)
    info = env.infos[first]
    assert info["winner"] == info["winner_first"] == winner and info["abstentions"] == verdicts.count("-")
    assert (info["side"], info["votes_first"], info["votes_final"]) == (0, verdicts.count("A"), verdicts.count("A"))
    end = text_of(env, first).rpartition("\n")[2]
    assert {0: "You have won.", 1: "You have lost.", 2: "It is a draw.", -1: "no verdict, so the match has no result"}[
        winner
    ] in end


def test_below_quorum_match_has_no_result():
    env = judged(started(n_judges=3, quorum=3, discussion=False), "A", "A", "-")
    assert env.game.undecided and not any(env.rewards.values()) and env.infos["judge_0"]["winner"] == -1


def test_discussion_records_first_and_final_verdicts():
    env = judged(started(n_judges=3), "A", "A", "B")
    assert env.view("judge_0").stage == "discuss"
    say(env, "I stay. [[A]]", "abstain", "Convinced.\n[A]")
    infos = [env.infos[judge] for judge in env.game.judges]
    assert [(info["verdict_first"], info["verdict_final"]) for info in infos] == [(0, 0), (0, 0), (1, 0)]
    assert [info["abstained"] for info in infos] == [0, 1, 0]
    assert env.infos["judge_0"]["abstentions"] == 0
    second = env.infos[env.game.sides[1]]
    assert (second["votes_first"], second["votes_final"]) == (1, 0)
    assert [given.text for given in env.game.first] == ["Because. [[A]]", "Because. [[A]]", "Because. [[B]]"]
    assert [given.text for given in env.game.final] == ["I stay. [[A]]", "Because. [[A]]", "Convinced.\n[A]"]


def test_judges_read_each_other_anonymously_in_discussion_only():
    env = debated(started(n_judges=3))
    say(env, "reason zero [[A]]", "reason one, not [[B]]\n[[A]]")
    assert "reason" not in text_of(env, "judge_2") and env.view("judge_2").judgements == ()
    say(env, "abstain")
    view = env.view("judge_1")
    assert [name for name, _ in view.judgements] == ["you", "Judge 1", "Judge 2"]
    assert [getattr(given, "text", None) for _, given in view.judgements] == [
        "reason one, not [[B]]\n[[A]]",
        "reason zero [[A]]",
        None,
    ]
    text = text_of(env, "judge_1")
    assert "Your judgement:\n> reason one" in text and "Judge 1's judgement:\n> reason zero" in text
    assert "Judge 2's judgement:\n(no verdict was given)" in text and "judge_" not in text
    say(env, "abstain", "[[A]]", "[[B]]")
    assert all("reason" not in repr((text_of(env, side), env.view(side))) for side in env.game.sides)


def test_second_discussion_round_shows_the_latest_judgements():
    env = judged(started(n_judges=2, discussion_rounds=2), "A", "B")
    say(env, "abstain", "second thoughts [[A]]")
    assert [given.text for _, given in env.view("judge_0").judgements] == ["Because. [[A]]", "second thoughts [[A]]"]
    say(env, "[[B]]", "[[B]]")
    assert env.game.committee.winner == "B" and not env.game.to_move


def test_both_orders_swap_names_and_count_repeated_verdicts():
    env = debated(started(n_judges=2, both_orders=True, discussion=False))
    before = text_of(env, "judge_0")
    say(env, "[[A]]", "[[A]]")
    after, view = text_of(env, "judge_0"), env.view("judge_0")
    exchanged = str.maketrans("AB", "BA")
    heads = [line for line in before.split("\n") if line.startswith("Round")]
    assert [line.translate(exchanged) for line in heads] == [
        line for line in after.split("\n") if line.startswith("Round")
    ]
    assert (
        view.stage == "judge" and view.fresh and [p.text for p in view.passages] == [p.text for p in env.game.passages]
    )
    say(env, "[[B]]", "[[A]]")
    infos = [env.infos[judge] for judge in env.game.judges]
    assert [(info["verdict_first"], info["verdict_final"], info["verdict_swapped"]) for info in infos] == [
        (0, 0, 0),
        (0, 0, 1),
    ]
    assert env.infos[env.game.sides[0]]["votes_final"] == 1
    assert env.game.committee.verdicts() == ("A", "tie") and env.infos["judge_0"]["winner"] == 2


def test_second_order_discussion_is_independent_of_the_first():
    env = judged(started(n_judges=2, both_orders=True), "A", "A")
    say(env, "first order [[A]]", "first order [[A]]", "Because. [[B]]", "Because. [[B]]")
    assert env.view("judge_0").stage == "discuss" and "first order" not in text_of(env, "judge_0")
    assert [given.verdict for _, given in env.view("judge_0").judgements] == ["B", "B"]
    say(env, "[[B]]", "[[B]]")
    assert env.rewards[env.game.sides[0]] == 1.0


def test_first_judge_writes_missing_reference():
    env = debated(started(questions=[MATH], n_judges=2))
    assert env.view("judge_0").stage == "reference" and env.game.to_move == ("judge_0",)
    text = text_of(env, "judge_0")
    assert "What is two plus two?" in text and "I respond" not in text and env.observe("judge_0")["fresh_history"] == 1
    say(env, "<think>easy</think>It is four.")
    for judge in env.game.judges:
        assert "A reference answer:\n> It is four.\nWhen you compare with it, give more weight to accuracy." in text_of(
            env, judge
        )
    assert all("four" not in text_of(env, side) for side in env.game.sides)
    assert len(env.game.deliveries) == 9 and env.max_turns == 14


@pytest.mark.parametrize(
    ("options", "reference"),
    [
        ({"questions": [POEM]}, "Drip, drop."),
        ({"questions": [{**MATH, "reference": "4"}]}, "4"),
        ({"questions": [POEM], "reference": None}, ""),
        ({"questions": [MATH], "reference": None}, ""),
        ({"question": "What?", "reference": "That."}, "That."),
        ({"question": "What?", "domain": "stem"}, ""),
    ],
)
def test_references_that_are_given_or_not_wanted(options, reference):
    env = debated(started(n_judges=1, **options))
    assert env.view("judge_0").stage == "judge"
    assert env.view("judge_0").reference == reference and env.view("debater_0").reference == ""
    assert ("A reference answer" in text_of(env, "judge_0")) == bool(reference)


def test_a_judge_may_give_no_reference():
    env = debated(started(questions=[MATH], n_judges=1))
    say(env, "abstain", "[[Tie]]")
    assert env.game.reference == "" and env.infos["judge_0"]["verdict_final"] == 2


def test_examiner_sets_the_question_and_reads_no_debate():
    env = started(examiner=True, domain="stem")
    assert env.agents[0] == env.agent_selection == "examiner_0"
    assert "request is not known yet" in text_of(env, "debater_0")
    say(env, "(1). Why is there no answer to this?\n(2). Why do leaves turn red in autumn?")
    assert env.game.question.text == "Why is there no answer to this?"
    assert "> Why is there no answer to this?" in text_of(env, "debater_0")
    told = [
        env.observe("examiner_0")["rules"],
        text_of(debated(env), "examiner_0"),
        repr(env.view("examiner_0").passages),
    ]
    assert not any(word in text for text in told for word in ("I respond", "debate", "judge", "opponent"))
    assert env.infos["debater_0"]["domain"] == -1  # until the match is over
    say(env, *["[[A]]"] * 10)
    assert env.infos["debater_0"] | {"question": -1, "domain": 6} == env.infos["debater_0"]


def test_numbers_of_questions_and_domains():
    env = judged(started(questions=[MATH, POEM], number=1, n_judges=1, discussion=False), "A")
    assert env.game.question.text == POEM["question"]
    assert (env.infos["debater_0"]["question"], env.infos["judge_0"]["domain"]) == (1, 0)
    env = started(questions=[MATH, POEM], domain="writing")
    assert env.game.number == 1
    assert {started(seed, questions=[MATH, POEM]).game.number for seed in range(20)} == {0, 1}
    env = judged(started(n_judges=1), "A")
    assert (env.game.question.text, env.infos["judge_0"]["domain"]) == (QUESTION, -1)


def test_rated_matches_accept_own_question_or_examiner():
    env = started(question="Why is the sky blue?", questions="builtin")
    assert [question.text for question in env.game.questions] == ["Why is the sky blue?"]
    assert env.cases() == {}
    assert len(env.sources()) == 1
    env = started(examiner=True, questions="examiner")
    assert env.possible_agents[0] == "examiner_0"
    assert env.cases() == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"question": "a", "questions": "examiner"}, "question, questions: expected one of them"),
        ({"question": " "}, "question: expected None or a text"),
        ({"questions": [MATH], "number": 1}, "number: expected an integer from 0 to 0"),
        ({"questions": [MATH], "domain": "stem"}, "domain: there is no question in 'stem' among the 1"),
        (
            {"questions": [MATH, POEM], "domain": "math", "number": 1},
            "question 1 is in the domain 'writing', not in 'math'",
        ),
        ({"number": 0}, "number: expected None where an examiner sets the question"),
        ({"domain": "maths"}, "domain: expected one of .*; did you mean 'math'"),
        ({"reference": "four"}, "reference: .* give that as question="),
        ({"n_judges": 10}, "n_judges: expected an integer from 0 to 9"),
        ({"n_judges": 2, "quorum": 3}, "quorum: expected an integer from 1 to 2"),
        ({"discussion_rounds": 0}, "discussion_rounds: expected an integer from 1 to 3"),
        ({"words": 5}, "words: expected an integer from 10 to 1000"),
        ({"round3_opener": "C"}, "round3_opener: expected one of 'A', 'B'"),
        ({"visibility": "all"}, "visibility: expected one of 'paper', 'restricted'"),
        ({"both_orders": 1}, "both_orders: expected True or False"),
        ({"counter": "letters"}, "counter: expected one of 'words', 'tiktoken'"),
        ({"language": "de"}, "language: expected one of 'en', 'zh'"),
        ({"questions": "builtin", "obs_type": "vector"}, "obs_type"),
    ],
)
def test_options_that_are_not_valid_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        started(examiner=True, **options)


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({}, 21),
        ({"domain": "math"}, 21),
        ({"domain": "stem"}, 20),
        ({"reference": None}, 20),
        ({"questions": [MATH]}, 20),
        ({"questions": [POEM]}, 19),
        ({"questions": [MATH, POEM], "number": 1}, 19),
        ({"question": "What?"}, 19),
        ({"question": "What?", "discussion": False}, 14),
        ({"question": "What?", "n_judges": 1}, 10),
        ({"question": "What?", "n_judges": 2, "discussion_rounds": 3}, 17),
        ({"question": "What?", "both_orders": True}, 29),
        ({"question": "What?", "n_judges": 0}, 9),
        ({"question": "What?", "judge_initial_only": True}, 12),
        ({"domain": "math", "n_judges": 0}, 10),
    ],
)
def test_the_bound_on_turns_follows_the_options(options, bound):
    assert started(examiner=True, **options).max_turns == bound


@pytest.mark.parametrize("when", ["debate", "judge"])
def test_forfeit_of_staff_gives_no_result(when):
    env = started(n_judges=2)
    if when == "debate":
        offender, other = env.game.sides
        env.step(None)
        assert (env.rewards[offender], env.rewards[other], env.rewards["judge_0"]) == (-1.0, 1.0, 0.0)
        assert not env.game.undecided
    else:
        debated(env)
        env.step(b"[[A]]")
        say(env, "[[A]]")
        assert env.rewards == {"debater_0": 0.0, "debater_1": 0.0, "judge_0": -1.0, "judge_1": 0.0}
        assert env.game.undecided
