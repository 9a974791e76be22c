"""Self-enhancement of examiners: scores are read as they were given, and a gain on own questions is found."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.self_enhancement import (
    Options,
    Score,
    fisher,
    gain_table,
    kolmogorov_smirnov,
    plan,
    question_sets,
    scores,
)
from benchmarks.experiments.command import main
from llmarena_envs.debate.questions import DOMAINS, load_questions
from llmarena_envs.debate.questions.files import write_questions
from rating.store.records import FINISHED, UNDECIDED, Outcome, SeatOutcome


def debate(number, question, votes, abstentions=0, status=FINISHED, forfeit=""):
    reward = float(np.sign(votes[0] - votes[1]))
    seats = [
        SeatOutcome(
            policy,
            pay,
            statistics={"question": question, "votes_final": own, "abstentions": abstentions},
            agent=f"debater_{seat}",
            forfeit=forfeit,
        )
        for seat, (policy, pay, own) in enumerate(zip(("x", "y"), (reward, -reward), votes, strict=True))
    ]
    judges = [SeatOutcome("j", 0.0, agent=f"judge_{judge}", rated=False) for judge in range(5)]
    return Outcome("debate_v0", number, question, status, (*seats, *judges))


def test_scores_are_shares_of_the_votes_that_were_given():
    found = scores(
        [
            debate(0, 3, (4, 1)),
            debate(1, 4, (1, 1), abstentions=1),  # two ties
            debate(2, 4, (0, 0), abstentions=5, status=UNDECIDED),
            debate(3, 4, (5, 0), forfeit="illegal"),
        ]
    )
    assert found == {
        "x": [Score(3, 0.8, True), Score(4, 0.5, False)],
        "y": [Score(3, 0.2, False), Score(4, 0.5, False)],
    }


def made(chance, seed):
    rng = np.random.default_rng(seed)
    return [Score(question, won, won > 0.5) for question in range(40) for won in (rng.random(4) < chance).astype(float)]


def test_significance_tests_equal_textbook_values():
    first, second = made(0.8, 1), made(0.4, 2)
    means = [
        [np.mean([each.votes for each in own if each.question == number]) for number in range(40)]
        for own in (first, second)
    ]
    assert kolmogorov_smirnov(first, second) == pytest.approx(tuple(stats.ks_2samp(*means))[:2])
    won = [sum(each.won for each in own) for own in (first, second)]
    assert fisher(first, second) == pytest.approx(
        stats.fisher_exact([[won[0], 160 - won[0]], [won[1], 160 - won[1]]])[1]
    )


def test_a_gain_on_own_questions_is_found_on_its_side():
    first = {"x": made(0.8, 1), "y": made(0.5, 2)}
    second = {"x": made(0.4, 3), "y": made(0.5, 4)}
    table = gain_table(["x", "y"], {"x": first, "y": second})
    gains = {row[0]: row for row in table.rows}
    assert gains["x"][1].low > 20
    assert gains["x"][6] < 0.001
    assert gains["x"][8] < 0.001
    assert gains["y"][1].low < 0 < gains["y"][1].high
    exchanged = gain_table(["x"], {"y": second, "x": first})  # the same questions of x, as the second set
    assert exchanged.rows[0][1] == gains["x"][1]


def test_shipped_questions_are_parted():
    first, second = question_sets(Options())
    assert (len(first.numbers), len(second.numbers)) == (40, 40)
    assert not set(first.numbers) & set(second.numbers)
    questions = load_questions("builtin")
    for own in (first, second):
        assert [questions[number].domain for number in own.numbers] == [domain for domain in DOMAINS for _ in range(5)]
    few = question_sets(Options(chosen=50, language="zh"))
    assert [len(own.numbers) for own in few] == [3 * len(DOMAINS)] * 2


def test_question_files_belong_to_their_examiners(tmp_path):
    questions = load_questions("builtin")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, own in zip(files, (questions[:20], questions[20:60]), strict=True):
        path.write_text(write_questions(own), encoding="utf-8")
    options = Options(examiner=(f"ash={files[0]}", f"openai:m:top_p=1={files[1]}"), judge=("honest", "constant"))
    assert [own.examiner for own in question_sets(options)] == ["ash", "openai:m:top_p=1"]
    first, second = plan(options).values()
    debate = second.environment[0]
    assert debate.options == {"questions": str(files[1]), "language": "en", "n_judges": 2}
    assert (debate.staff, debate.scheme) == ({"judge": ["honest", "constant"]}, "mean_reward")
    assert first.seed != second.seed
    assert second.stop.matches == 2 * 3 * len(debate.by_deal["number"])


@pytest.mark.parametrize(
    "examiners", [["a=builtin"], ["a=builtin", "a=x"], ["a", "b"], ["a=no.jsonl", "b=no.jsonl"], ["a=", "b=x"]]
)
def test_two_examiners_are_required(examiners, tmp_path, capsys):
    assert main(PAPER, ["selfenh", "--examiner", *examiners, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("llmarena: ")
