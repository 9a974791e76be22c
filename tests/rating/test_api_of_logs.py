"""The public names that read logs and compare two policies."""

import rating


def test_two_policies_are_compared():
    battles = [("ann", "bob", 1, f"question {number}") for number in range(40)]
    assert rating.compare(battles, "ann", "bob").better == "ann"
    assert rating.compare(battles[:2], "ann", "bob").better is None
    assert rating.compare(battles, "bob", "ann", level=0.01).better == "ann"


def test_a_log_is_read(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nann,bob,model_a\nbob,ann,tie\n", encoding="utf-8")
    battles = rating.read_battles(path)
    assert [(battle.first, battle.second, battle.score) for battle in battles] == [
        ("ann", "bob", 1),
        ("bob", "ann", 0.5),
    ]
    assert rating.standings(battles).rows[0].policy == "ann"
