"""Code review and translation: made matches with hand-computed numbers, played matches, and refused input."""

import json

import pytest

from benchmarks.deepeval import code_review, judges, matrices, translation
from benchmarks.deepeval.__main__ import PAPER
from benchmarks.deepeval.judged import JudgedMatch, JudgedOptions, Scores, describe_size, plan_tasks
from benchmarks.deepeval.pool import CODE_REVIEW
from benchmarks.experiments.command import main
from rating.play.run import Run
from rating.schedules.batches import Stop
from rating.store.records import SeatOutcome

NAMES = code_review.NAMES


def made(number, task, writer, editor, scores, *, first=0.0, last=1.0, consensus=1.0, length=10.0, forfeited=False):
    """A match on a task; ``scores`` by judge, of writer and editor, or ``None``."""
    given = [each for each in scores.values() if each]
    means = [sum(each[role] for each in given) / len(given) if given else 0.0 for role in range(2)]
    known = {
        "task": float(task),
        "pass_first": first,
        "pass_last": last,
        "consensus": consensus,
        "rounds": 2.0,
        "empty": 0.0,
    }
    seats = [
        SeatOutcome(policy, mean, agent=agent, statistics={**known, "length": length})
        for policy, mean, agent in ((writer, means[0], "writer_0"), (editor, means[1], "editor_0"))
    ]
    own = {judge: each and Scores(*each) for judge, each in scores.items()}
    return JudgedMatch(number, task, task, *seats, own, bool(given) and not forfeited, forfeited)


def table(rows):
    return {row[0]: list(row[1:]) for row in rows}


def values(cells):
    return [cell and (pytest.approx(cell.value), cell.n) for cell in cells]


def test_matrix_has_editor_rows_and_skips_unscored_and_self_play():
    matches = [
        made(0, 0, "a", "b", {"j": (2, 6)}),
        made(1, 1, "a", "b", {"j": (4, 8)}),
        made(2, 0, "b", "a", {"j": (9, 1)}),
        made(3, 0, "a", "a", {"j": (10, 10)}),
        made(4, 2, "b", "a", {"j": None}),
        made(5, 2, "b", "a", {"j": (1, 1)}, forfeited=True),
    ]
    writers = table(matrices.score_matrix(matches, "writer", NAMES).rows)
    assert values(writers["b"]) == [(3, 2), None, (3, 2)]
    assert values(writers["a"]) == [(10, 1), (9, 1), (9, 1)]
    assert values(writers["mean"]) == [(3, 2), (9, 1), (5, 3)]
    editors = table(matrices.score_matrix(matches, "editor", NAMES).rows)
    assert values(editors["b"]) == [(7, 2), None, (7, 2)]
    assert values([matrices.role_mean(matches, "b", role) for role in ("editor", "writer")]) == [(7, 2), (9, 1)]
    # Two tasks say next to nothing about others.
    assert matrices.role_mean(matches, "b", "editor").low is None
    assert matrices.role_mean(matches, "b", "writer").low is None


def test_players_are_compared_on_same_tasks_and_partner():
    matches = [
        made(number, task, writer, editor, {"j": (score, 5)})
        for task in range(6)
        for number, (writer, editor, score) in enumerate([("a", "c", 8), ("b", "c", 6), ("a", "b", 1), ("b", "a", 10)])
    ]
    rows = matrices.difference_table(matches, "writer", NAMES).rows
    # Of a and b only the matches with c are alike; all six tasks say the same: 2 of 64 exchanges are as large.
    (first, second, difference, groups, p, corrected) = rows[0]
    assert (first, second, difference.value, groups, p, corrected) == ("a", "b", 2, 6, 2 / 64, 2 / 64)
    assert len(rows) == 1


def test_pass_rates_of_programs_are_reported():
    matches = [
        made(0, 0, "a", "b", {"j": (1, 1)}, first=0.5, last=1.0),
        made(1, 1, "a", "b", {"j": (1, 1)}, first=1.0, last=0.5),
        made(2, 2, "a", "b", {"j": None}, first=0.0, last=1.0, consensus=0.0),
        made(3, 3, "a", "b", {"j": (1, 1)}, first=-1.0, last=-1.0),
        made(4, 4, "a", "b", {"j": (1, 1)}, forfeited=True),
    ]
    found = [code_review.pass_rate(matches, which) for which in (code_review.FIRST, code_review.LAST)]
    assert values(found) == [(1 / 3, 3), (2 / 3, 3)]
    assert values([code_review.change(matches), code_review.false_consensus(matches)]) == [(1 / 3, 3), (1 / 2, 2)]


def test_length_biased_judge_is_found():
    matches = []
    for task in range(8):
        for number, (last, length) in enumerate([(1.0, 10.0), (0.5, 30.0), (0.0, 20.0)]):
            scores = {"fair": (1 + 9 * last, 5), "long": (length / 10, 9), "silent": None}
            matches.append(made(3 * task + number, task, "a", "b", scores, last=last, length=length))
    rows = {
        (row[0], row[1]): row[2:]
        for row in judges.accuracy_table(
            matches, NAMES, code_review.truth, lambda match, role: match.seat(role).statistics["length"], []
        ).rows
    }
    mean, abstained, share, truth, length, _ = rows["fair", "programmer"]
    assert (mean.value, abstained, share.value, share.n, truth.value) == (pytest.approx(5.5), 0, 100, 24, 1)
    assert length.value == pytest.approx(-0.5)
    _, _, share, truth, length, held = rows["long", "programmer"]
    assert share.value == pytest.approx(100 / 3)
    assert (truth.value, length.value) == (pytest.approx(-0.5), pytest.approx(1))
    assert held.value == pytest.approx(1)
    assert rows["long", "reviewer"][2].value == 50
    assert rows["silent", "programmer"] == [None, 24, None, None, None, None]
    favours = table(judges.role_table(matches, NAMES).rows)
    assert values(favours["fair"]) == [(-0.5, 24), (-7.5, 24)]
    assert values(favours["long"]) == [(7, 24), (7.5, 24)]
    assert favours["silent"] == [None, None]
    agreement = {(row[0], row[1]): row[2:] for row in judges.agreement_table(matches, NAMES).rows}
    both, correlation, more, apart, remark = agreement["fair and long", "programmer"]
    assert (both, correlation.value) == (24, pytest.approx(-0.5))
    assert (more.value, apart.value) == (pytest.approx(3.5), pytest.approx((9 + 2.5 + 1) / 3))
    assert remark == "fewer than 30 scores"
    assert agreement["fair and silent", "programmer"][0] == 0


def test_single_judge_has_no_agreement():
    found = judges.agreement_table([made(0, 0, "a", "b", {"j": (1, 2)})], NAMES)
    assert (found.rows, found.notes) == ([], ["one judge or none: there is nobody to agree with"])
    assert judges.judge_notes(["j", "a"], ["a", "b"])[1].startswith("a judges matches that it plays itself")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    path = tmp_path_factory.mktemp("deepeval")
    assert main(PAPER, ["t3", "--smoke", "--out", str(path), "--workers", "1"]) == 0
    assert main(PAPER, ["t6", "--smoke", "--out", str(path), "--workers", "1", "--language", "zh"]) == 0
    return path


def result(path, row):
    report = json.loads((path / f"{row}.json").read_text(encoding="utf-8"))
    return {item["name"]: item["rows"] for item in report["tables"]}, report


@pytest.mark.slow
def test_every_pair_has_both_roles_on_the_same_tasks(out):
    tables, _ = result(out, "t3")
    cells = [cell for row in tables["programmers"][:-1] for cell in list(row.values())[1:-1]]
    assert sorted(cell["n"] if cell else 0 for cell in cells) == [0] * 3 + [2] * 6
    assert {row["different tasks (measured)"] for row in tables["matches"]} == {2}
    published = {row["player"]: row for row in tables["means"]}
    assert published["GPT-4"]["as programmer (published)"] == 8.97
    assert published["fixer"]["as programmer (published)"] is None


@pytest.mark.slow
def test_review_by_a_fixer_helps_and_by_an_echo_does_not(out):
    tables, _ = result(out, "t3")
    gain = {
        row["reviewer"]: row["more programs pass all tests after review, points (measured)"]
        for row in tables["consensus"]
    }
    assert gain["fixer"]["value"] == 50  # all of the other fixer's, none of the echo's
    assert gain["echo"]["value"] == 0
    rubric = [row for row in tables["judges"] if row["judge"] == "rubric"]
    assert all(row["pairs ordered as what is known, % (measured)"]["value"] == 100 for row in rubric)


@pytest.mark.slow
def test_a_good_translator_is_nearer_to_the_reference(out):
    tables, report = result(out, "t6")
    likeness = {
        row["translator"]: row["chrF++, raw text (measured)"]["value"] for row in tables["references-translators"]
    }
    assert likeness["translator"] > likeness["careless"] > likeness["echo"]
    assert "nothing was compared" not in " ".join(report["notes"])


@pytest.mark.slow
def test_every_task_of_a_file_is_played_once_by_each_pair(tmp_path):
    file = tmp_path / "mine.jsonl"
    lines = [
        {
            "task_id": number,
            "text": f"Return {number}.",
            "code": f"def f():\n    return {number}",
            "test_list": [f"assert f() == {number}"],
        }
        for number in range(3)
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    options = JudgedOptions(matches=0, tasks=str(file), alone=True, policy=("echo", "random"))
    (config,) = plan_tasks(options, CODE_REVIEW, {"task": "code_review"}).values()
    assert sorted(config.environment[0].by_deal["number"]) == [0, 1, 2]
    assert config.stop.matches == 6
    assert describe_size(config, CODE_REVIEW).endswith("every judge (2) rates 6 matches")
    words = ["t3", "--matches", "0", "--tasks", str(file), "--alone", "--policy", "echo", "random", "--judge", "rubric"]
    assert main(PAPER, [*words, "--out", str(tmp_path / "out")]) == 0
    tables, _ = result(tmp_path / "out", "t3")
    assert {row["scored (measured)"] for row in tables["matches"]} == {6}
    assert {row["different tasks (measured)"] for row in tables["matches"]} == {3}


@pytest.mark.parametrize("matches", [7, 10])
def test_exactly_the_tasks_that_were_asked_for_are_played(matches):
    options = JudgedOptions(matches=matches, policy=("random",), seed=3)
    (config,) = plan_tasks(options, CODE_REVIEW, {"task": "code_review"}).values()
    schedule = Run(config).scheme(CODE_REVIEW).schedule()
    played = []
    while not isinstance(batch := schedule.next_batch(), Stop):
        played += batch
    assert len(played) <= 12 * (matches + 1)  # batches have equal sizes, so the last may add one match
    tasks = {}
    for match in played:
        tasks.setdefault(match.policies[:2], []).append(match.options["number"])
    assert len(tasks) == 12
    first = next(iter(tasks.values()))
    assert len(set(first)) == matches
    assert all(numbers == first for numbers in tasks.values())


@pytest.mark.slow
def test_without_sacrebleu_the_row_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("llmarena_envs.writer_editor.text_metrics.has_text_metrics", lambda: False)
    monkeypatch.setattr(translation, "has_text_metrics", lambda: False)
    assert main(PAPER, ["t4", "--smoke", "--out", str(tmp_path), "--workers", "1"]) == 0
    tables, report = result(tmp_path, "t4")
    assert any("pip install 'llmarena-envs[text]'" in note for note in report["notes"])
    assert {row["chrF++, raw text (measured)"] for row in tables["references-translators"]} == {None}
    assert {row["pairs ordered as what is known, % (measured)"] for row in tables["judges"]} == {None}
