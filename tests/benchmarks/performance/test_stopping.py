"""The simulation of stop rules: a known order ends every run early, and what it prints."""

from benchmarks.options import parse
from benchmarks.performance import stopping


def test_every_rule_ends_every_run_and_is_held_against_the_truth():
    options = parse(stopping.Options, None, ["--smoke", "--rules", "spearman=0.8", "spearman=0.99"])
    lines = stopping.run(options)
    assert [(line.schedule, line.rule) for line in lines] == [
        (schedule, rule) for schedule in stopping.SCHEDULES for rule in options.rules
    ]
    for line in lines:
        assert len(line.endings) == options.runs
        assert all(0.5 < ending.spearman <= 1 for ending in line.endings)
    easy, hard = lines[:2]
    assert easy.games < hard.games == 7 * options.most and hard.capped == 1
    assert "| B | adaptive | spearman=0.99 |" in stopping.table(lines)
    assert len(stopping.goals(lines)) == 2


def test_a_line_says_how_often_the_order_was_wrong():
    endings = [stopping.Ending(100, False, 1.0, True), stopping.Ending(300, True, 0.98, False)]
    line = stopping.Line("A", "adaptive", stopping.GOAL, endings)
    assert (line.games, line.spearman, line.share(1.0), line.share(0.99)) == (200, 0.99, 0.5, 0.5)
    assert (line.best_wrong, line.capped) == (0.5, 0.5)
    assert "| 200 | 0.990 | 0.50 | 0.50 | 0.50 | 0.50 |" in stopping.table([line])
