"""The examiner's work: the rules of the suite, batches and calls, what is counted, and scripted examiners."""

import re

import numpy as np
import pytest

from agents.play import play
from agents.turn import TurnSettings
from benchmarks.auto_arena.examination.baselines import Careless, FromFile, Templates
from benchmarks.auto_arena.examination.env import env
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.questions import DOMAINS, check_question, load_questions
from llmarena_envs.testing import check_environment

GOOD = [
    "Why does ice float on water, and what would change if it sank?",
    "How do bees tell each other where to look for flowers?",
    "Explain what a capacitor does in the supply of a radio.",
    "Which of the four seasons is the longest one, and for what reason?",
]


def numbered(texts):
    return "\n".join(f"({number}). {text}" for number, text in enumerate(texts, start=1))


def work(policy, **options):
    return play(env(**options), {"examiner_0": policy}, seed=1).infos["examiner_0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"count": 4}, {"domain": "math", "count": 5, "batch": 2, "calls": 2, "language": "zh"}]
)
def test_the_conformance_suite_passes(options):
    check_environment(env, options=options, seeds=range(2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"domain": "maths"}, "domain: expected one of"),
        ({"count": 0}, "count: expected an integer from 1"),
        ({"batch": 0}, "batch"),
        ({"calls": 11}, "calls"),
        ({"language": "fr"}, "language"),
    ],
)
def test_options(options, message):
    with pytest.raises(OptionError, match=message):
        env(**options)


def test_what_is_missing_of_a_batch_is_asked_for_again():
    replies = iter([numbered([GOOD[0], GOOD[0], "Ice is cold."]), numbered([GOOD[0], GOOD[1]]), numbered(GOOD[2:])])
    wanted = []

    def examiner(view):
        wanted.append((view.wanted, len(view.accepted), len(view.last)))
        return next(replies)

    examiner.reads = "view"
    infos = work(examiner, count=4, batch=2)
    assert wanted == [(2, 0, 0), (1, 1, 3), (2, 2, 0)]
    assert (infos["accepted"], infos["drafted"], infos["calls"], infos["surplus"]) == (4, 7, 3, 0)
    assert (infos["refused_repeated"], infos["refused_asks_nothing"]) == (2, 1)


def test_the_next_batch_comes_after_the_last_call():
    replies = iter([numbered(GOOD[:1]), "Answer: 42 it is.", numbered(GOOD)])
    game = env(count=3, batch=2, calls=2)
    episode = play(game, {"examiner_0": lambda observation: next(replies)}, seed=1)
    assert game.unwrapped.game.accepted == (GOOD[0], GOOD[1])  # one more was wanted, and the first one is kept already
    assert episode.rewards == {"examiner_0": pytest.approx(2 / 3)}
    assert episode.infos["examiner_0"]["surplus"] == 2


@pytest.mark.parametrize(("language", "reason"), [("en", "it asks for nothing"), ("zh", "没有提出任何问题或要求")])
def test_the_examiner_reads_what_was_kept_and_why_the_rest_was_not(language, reason):
    examination = env(count=4, batch=4, language=language)
    examination.reset(seed=0)
    examination.step(numbered([GOOD[0], "Ice is cold.\n> [[A]]"]))
    text = examination.observe("examiner_0")["text"]
    assert f"> (1). {GOOD[0]}" in text
    assert f"> Ice is cold.\n> > [[A]]\n{'(' if language == 'en' else '（'}{reason}" in text
    assert "3" in text[text.index(reason) :].split("\n\n")[1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examiner_is_not_told_what_the_questions_are_for(language):
    examination = env(language=language)
    examination.reset(seed=0)
    examination.step(numbered([GOOD[0], "Ice is cold."]))
    told = " ".join(examination.observe("examiner_0").values()).lower()
    assert not re.search(
        r"debat|compet|tournament|opponent|judge|you (?:can|could) (?:solve|answer)|辩论|比赛|对手|评委|参赛", told
    )


def test_a_reply_without_a_question_costs_a_call():
    mute = {"examiner_0": lambda observation: "<think>What shall I ask?</think>"}
    episode = play(env(count=4, batch=2, calls=2), mute, seed=1, settings=TurnSettings(unparsable="noop"))
    infos = episode.infos["examiner_0"]
    assert (infos["calls"], infos["accepted"], infos["refused_empty"]) == (4, 0, 4)


@pytest.mark.parametrize(
    "drafts",
    [
        ("What is A for?", "Explain B."),
        ("Play a cook. Rules:\n1. be rude\n2. be quick", "What does\n```python\nx = 1\n```\nprint?"),
        ("Be brief:\n(2). one\n(3). two", "What is next?"),
        ("What is meant by ```\n?", "What is next?", "Why?\n\nLet me know if you know."),
        ('["What?"]', "- a\n- b"),
    ],
)
def test_what_is_written_is_read_again(drafts):
    raw = env().unwrapped
    raw.reset(seed=0)
    written = raw.write_action(drafts, "examiner_0")
    assert raw.codec.read(written, raw.game.view("examiner_0")) == drafts
    assert raw.parse(written, "examiner_0") == written


@pytest.mark.parametrize("piece", ["(1). What is it for?\n", '{"queries": ["', "```\n", "[" * 50, "1. \ud800\x00"])
def test_a_hostile_reply_is_taken_or_refused(piece):
    examination = env().unwrapped
    examination.reset(seed=0)
    try:
        action = examination.parse(piece * (1_000_000 // len(piece)), "examiner_0")
    except InvalidReply:
        return
    examination.step(action)
    assert examination.infos["examiner_0"]["illegal"] == 0


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_templates_make_thirty_different_questions(domain, language):
    infos = work(Templates(), domain=domain, language=language)
    assert (infos["accepted"], infos["calls"]) == (30, 3)


def test_templates_depend_on_the_seed_only():
    games = [env(domain="math", count=3), env(domain="math", count=3), env(domain="math", count=3)]
    for game, seed in zip(games, (1, 1, 2), strict=True):
        play(game, {"examiner_0": Templates()}, seed=seed)
    first, again, other = (game.unwrapped.game.accepted for game in games)
    assert first == again != other


def test_a_file_is_given_in_its_order(tmp_path):
    own = [question.text for question in load_questions("builtin") if question.domain == "stem"]
    game = env(domain="stem", count=len(own), batch=4)
    play(game, {"examiner_0": FromFile()}, seed=0)
    assert game.unwrapped.game.accepted == tuple(own)
    assert work(FromFile(), domain="stem", count=30)["accepted"] == len(own)
    with pytest.raises(OptionError, match="questions: cannot read"):
        FromFile(str(tmp_path / "missing.jsonl"))


@pytest.mark.parametrize(
    ("fault", "accepted", "statistic", "count"),
    [("few", 9, "refused_repeated", 0), ("same", 1, "refused_repeated", 27), ("answer", 0, "refused_answer", 3)],
)
def test_bad_examiners_are_asked_three_times(fault, accepted, statistic, count):
    infos = work(Careless(fault), domain="writing", count=10)
    assert (infos["calls"], infos["accepted"], infos[statistic]) == (3, accepted, count)
    with pytest.raises(OptionError, match="fault"):
        Careless("other")


def test_random_play_gives_shipped_questions():
    raw = env(count=3, language="zh").unwrapped
    raw.reset(seed=0)
    drafts = raw.game.random_action("examiner_0", np.random.default_rng(0))
    assert len(drafts) == 3
    assert all(check_question(text) is None for text in drafts)
