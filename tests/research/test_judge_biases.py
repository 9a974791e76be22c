"""The simulation of judges: repeatable studies of the size asked for, and named biases by judge."""

from collections import Counter

import numpy as np

from research.judge_biases import Setting, judgements, named


def test_judgements_have_the_size_of_the_setting():
    setting = Setting(judges=5, items=30, per_item=3, both_orders=True, ties=1.0)
    found = judgements(np.random.default_rng(1), setting)
    assert found == judgements(np.random.default_rng(1), setting)
    assert set(Counter(one.texts_name for one in found).values()) == {6}
    assert set(Counter(one.item for one in found).values()) == {3}
    assert {one.final for one in found} == {"A", "B", "tie"}


def test_judgements_strong_first_puts_the_stronger_first():
    setting = Setting(items=400, spread=20.0, strong_first=0.8)
    won = [one.final == "A" for one in judgements(np.random.default_rng(2), setting)]
    assert 0.7 < np.mean(won) < 0.85


def test_named_tells_the_kind_of_bias_by_judge():
    (study,) = named(Setting(judges=3, items=150, biased=1, position=4.0), 1, 3)
    assert study == [{"position"}, set(), set()]
