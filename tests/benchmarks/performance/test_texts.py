"""The comparison of histories by their length."""

from benchmarks.performance.texts import Options, run, table


def test_smoke_run_counts_said_and_sent_characters():
    (line,) = run(Options(games=("connect_four_v0",), matches=1))
    single, full, updates = (line.sizes[history] for history in ("single_turn", "full", "updates"))
    assert single.said == single.sent > full.said > updates.said > 0
    assert full.sent > updates.sent > updates.said
    assert f"| {full.said:,} | {full.sent:,} | {updates.said:,} | {updates.sent:,} |" in table([line])
