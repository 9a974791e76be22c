"""Opponents drawn from a pool."""

import json
from collections import Counter
from pathlib import Path

import pytest

from agents.training import Deal, deals
from agents.training.opponents import Pool, draw_opponent
from llmarena_envs.core.options import OptionError


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """Three checkpoints, one that is still being written, and a file."""
    folder = tmp_path / "checkpoints"
    for step in (5, 10, 100):
        path = folder / f"checkpoint-{step}"
        path.mkdir(parents=True)
        (path / "config.json").write_text("{}")
        (path / "model.safetensors").touch()
    (folder / "checkpoint-200").mkdir()
    (folder / "checkpoint-200" / "config.json").write_text("{}")
    (folder / "trainer_state.json").write_text("{}")
    return folder


def _counts(spec: str, draws: int = 3000) -> dict[str, float]:
    names = Counter(Path(draw_opponent(spec, seed, "player_1")).name for seed in range(draws))
    return {name: count / draws for name, count in names.items()}


def test_pool_same_seed_and_seat_draws_the_same_opponent(checkpoints: Path) -> None:
    spec = f"pool:{checkpoints}"
    drawn = [draw_opponent(spec, seed, "player_1") for seed in range(50)]
    assert drawn == [draw_opponent(spec, seed, "player_1") for seed in range(50)]
    assert drawn != [draw_opponent(spec, seed, "player_0") for seed in range(50)]
    assert set(drawn) == {f"hf:{checkpoints}/checkpoint-{step}" for step in (5, 10, 100)}
    assert draw_opponent("random", 1, "player_1") == "random"


def test_pool_draws_by_time_and_by_win_rate(checkpoints: Path) -> None:
    assert _counts(f"pool:{checkpoints}:draw=latest", 20) == {"checkpoint-100": 1.0}
    assert _counts(f"pool:{checkpoints}") == pytest.approx(
        {f"checkpoint-{step}": 1 / 3 for step in (5, 10, 100)}, abs=0.03
    )
    rates = {"checkpoint-5": 1.0, "checkpoint-10": 0.8}  # 0.5 for the third
    checkpoints.with_name("checkpoints.json").write_text(json.dumps(rates))
    weights = {"checkpoint-10": 0.2**2, "checkpoint-100": 0.5**2}
    expected = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    assert _counts(f"pool:{checkpoints}:draw=prioritised") == pytest.approx(expected, abs=0.03)
    beaten = Pool.read(
        checkpoints, dict.fromkeys((f"checkpoint-{step}" for step in (5, 10, 100)), 1.0), draw="prioritised"
    )
    assert len({beaten.pick(seed, "player_1") for seed in range(50)}) == 3


def test_pool_file_mixes_checkpoints_and_policies_by_weight(checkpoints: Path) -> None:
    path = checkpoints.with_name("pool.toml")
    path.write_text(
        'draw = "latest"\n[[policy]]\ncheckpoints = "checkpoints"\nweight = 3\n'
        '[[policy]]\nspec = "minimax"\n[[policy]]\nspec = "random"\nweight = 0\n'
        '[[policy]]\ncheckpoints = "none_yet"\nweight = 9\n'
    )
    assert _counts(f"pool:{path}") == pytest.approx({"checkpoint-100": 0.75, "minimax": 0.25}, abs=0.03)


def test_deal_with_a_pool_plays_the_drawn_policy(tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('[[policy]]\nspec = "minimax"\n[[policy]]\nspec = "first_legal"\n')
    seen = set()
    for deal in deals("tictactoe_v0", range(8), f"pool:{path}"):
        (drawn,) = deal.drawn_opponents().values()
        plain = Deal(deal.environment, deal.seed, dict.fromkeys(deal.opponents, drawn))
        results = []
        for match in (deal.match(), plain.match()):
            question = match.start_sync()
            while question is not None:
                question = match.reply_sync(question.legal[0])
            results.append(match.episode and match.episode.digest)
        assert results[0] == results[1]
        seen.add(drawn)
    assert seen == {"minimax", "first_legal"}
    with pytest.raises(OptionError, match="untrusted row"):
        Deal.from_json(deal.to_json())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policy = 3", r"\[\[policy\]\]"),
        ('[[policy]]\nspec = "random"\ncheckpoints = "x"', r"\[\[policy\]\]"),
        ('[[policy]]\nspec = "random"\nweight = -1', "weight"),
        ('[[policy]]\nspec = "random"\nweight = "much"', "weight"),
        ('[[policy]]\nspec = "random"\nweight = 0', "expected a policy or a checkpoint"),
        ('draw = "best"\n[[policy]]\nspec = "random"', "draw"),
        ('drawn = "latest"\n[[policy]]\nspec = "random"', "did you mean 'draw'"),
        ('[[policy]]\ncheckpoints = "nowhere"', "nowhere"),
        ("[[policy", "expected a pool"),
    ],
)
def test_pool_that_is_invalid_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(text)
    with pytest.raises(OptionError, match=said):
        draw_opponent(f"pool:{path}", 1, "player_1")


@pytest.mark.parametrize("rates", ["[]", '{"checkpoint-5": 2}', '{"checkpoint-5": "high"}', "{"])
def test_pool_with_invalid_win_rates_is_refused(checkpoints: Path, rates: str) -> None:
    checkpoints.with_name("checkpoints.json").write_text(rates)
    with pytest.raises(OptionError, match=r"win rate|checkpoints.json"):
        draw_opponent(f"pool:{checkpoints}", 1, "player_1")
    with pytest.raises(OptionError, match="expected a pool"):
        draw_opponent("pool:nowhere", 1, "player_1")
