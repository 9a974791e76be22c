import copy
import importlib
import json
import math
import os
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from llmarena_envs import connect_four_v0
from llmarena_envs.core.options import OptionError

pytestmark = pytest.mark.needs("torch", "safetensors")

SMALL = {"hidden": 16, "layers": 1, "heads": 2, "imitated": 30, "matches": 16}


@pytest.fixture(scope="module")
def script():
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as the script does; more are slow on a busy machine
    parts = ("games", "network", "language_model", "matches", "checkpoints", "evaluation")
    modules = [importlib.import_module(f"benchmarks.self_play.{part}") for part in parts]
    modules.append(importlib.import_module("benchmarks.train_self_play"))
    yield SimpleNamespace(**{name: value for module in modules for name, value in vars(module).items()})
    torch.set_num_threads(before)


def trained(script, path, seed):
    """Writes the checkpoint of a short training, and returns its bytes."""
    training = script.Training(script.Options(seed=seed, **SMALL))
    training.imitate()
    script.save(training.network, path)
    training.earlier.append(script.load(path))
    training.update()
    script.save(training.network, path)
    return path.read_bytes()


@pytest.mark.slow
def test_training_with_the_same_seed_writes_the_same_bytes(script, tmp_path):
    first, again, other = (trained(script, tmp_path / f"{number}", seed) for number, seed in enumerate((5, 5, 6)))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_checkpoint_plays_like_the_network_it_was_saved_from(script, tmp_path):
    trained(script, tmp_path / "one", seed=1)
    view = script.SETTINGS["tictactoe_v0"].game
    view.reset(np.random.default_rng(0))
    view = view.view(view.to_move[0])
    policy = script.checkpoint(str(tmp_path / "one"))
    draws = []
    for seed in range(400):
        policy.reset(view.agent, seed)
        draws.append(policy(view))
    network = script.load(tmp_path / "one")
    logits, _ = network.decide([network.setting.tokens(view)])
    legal = list(view.legal)
    chances = np.exp(logits[0, legal].double().numpy())
    shares = np.array([draws.count(action) for action in legal]) / 400
    assert set(draws) <= set(legal)
    assert np.abs(shares - chances / chances.sum()).max() < 0.1


def test_baseline_of_each_seat_gives_one_reward_opposite_signs(script):
    baselines = script.RoleBaselines()
    usual = [script.Record(seat, reward=reward) for reward, seat in ((0.5, 0), (-0.5, 1)) for _ in range(10)]
    baselines.add(usual)
    first, second = (baselines.advantage(script.Record(seat, reward=0.0)) for seat in (0, 1))
    assert first == pytest.approx(-0.5)
    assert second == pytest.approx(0.5)


def test_baselines_follow_the_rewards(script):
    baselines = script.RoleBaselines()
    for reward in (0.0, 1.0):
        baselines.add([script.Record(0, reward=reward)])
    assert baselines.means == [pytest.approx(1 - script.DECAY), None]


def curve(means, seed):
    """Returns the scores of checkpoints by deal: shares of eight matches won."""
    rng = np.random.default_rng(seed)
    return [rng.binomial(8, mean, 100) / 8 for mean in means]


def flags_of(script, curve):
    """Returns the detector after each checkpoint of a curve: the flag."""
    detector = script.CollapseDetector(0.05, len(curve) - 1)
    flags = []
    for number, scores in enumerate(curve):
        detector.add(10 * number, scores)
        flags.append(detector.flagged)
    return flags


def test_detector_keeps_the_flag_where_the_fall_happened(script):
    falls = curve((0.4, 0.5, 0.6, 0.6, 0.45, 0.6, 0.7), seed=0)
    assert flags_of(script, falls) == [None] * 4 + [40] * 3
    detector = script.CollapseDetector(0.05, 6)
    evidence = [detector.add(number, scores) for number, scores in enumerate(falls)]
    assert evidence[4] >= detector.needed > evidence[-1]


@pytest.mark.parametrize("means", [[0.5] * 11, np.linspace(0.4, 0.6, 11), [0.3] * 4 + [0.5] * 7])
def test_detector_flags_few_curves_without_a_fall(script, means):
    flagged = sum(flags_of(script, curve(means, seed))[-1] is not None for seed in range(200))
    assert flagged <= 10


@pytest.mark.slow
def test_detector_flags_collapse_hidden_from_self_play_reward(script):
    training = script.Training(script.Options(**{**SMALL, "hidden": 32, "imitated": 600, "matches": 64}))
    training.imitate()
    training.earlier.append(copy.deepcopy(training.network))
    detector = script.CollapseDetector(0.05, 3)
    rewards = []
    for number in range(40):
        if number == 30:
            training.network.policy.weight.data *= -1
        if number % 10 == 0:
            detector.add(number, script.evaluate(training.setting, training.network, 100, seed=0))
        rewards.append(training.update()["self_play"])
    assert detector.flagged == 30
    assert rewards == [0.0] * 40


@pytest.mark.needs("pyspiel")
def test_exploitability_of_uniform_play_is_exact(script):
    network = script.Transformer(script.SETTINGS["openspiel/kuhn_poker"], 16, 1, 2)
    network.policy.weight.data.zero_()
    network.policy.bias.data.zero_()
    assert script.exploitability(network) == pytest.approx(11 / 24)  # Kuhn poker: NashConv of uniform play is 11/12
    assert script.exploitability(script.Transformer(script.SETTINGS["tictactoe_v0"], 16, 1, 2)) is None


class _Code:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_checkpoint_with_code_is_refused_and_nothing_runs(script, tmp_path):
    import torch

    mark = tmp_path / "executed"
    (tmp_path / "pickle").write_bytes(pickle.dumps(_Code(mark)))
    torch.save({"token.weight": _Code(mark)}, tmp_path / "torch")
    for name in ("pickle", "torch"):
        with pytest.raises(OptionError, match=r"expected a checkpoint of benchmarks\.train_self_play"):
            script.checkpoint(str(tmp_path / name))
    assert not mark.exists()


@pytest.mark.parametrize(
    "size",
    [
        "no JSON",
        "[]",
        json.dumps({"game": "hanabi_v0", "hidden": 16, "layers": 1, "heads": 2}),
        json.dumps({"game": "tictactoe_v0", "hidden": 10**9, "layers": 1, "heads": 2}),
        json.dumps({"game": "tictactoe_v0", "hidden": 16, "layers": 1, "heads": 3}),
        json.dumps({"game": "tictactoe_v0", "hidden": 32, "layers": 1, "heads": 2}),
    ],
)
def test_checkpoint_with_wrong_size_is_refused(script, tmp_path, size):
    from safetensors.torch import save_file

    weights = script.Transformer(script.SETTINGS["tictactoe_v0"], 16, 1, 2).state_dict()
    save_file(weights, tmp_path / "file", metadata={"network": size})
    with pytest.raises(OptionError, match="expected a checkpoint"):
        script.checkpoint(str(tmp_path / "file"))


def test_position_of_another_game_is_refused(script):
    game = connect_four_v0.env().unwrapped.game
    game.reset(np.random.default_rng(0))
    with pytest.raises(OptionError, match="expected a position of tictactoe_v0"):
        script.SETTINGS["tictactoe_v0"].tokens(game.view("player_0"))


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe_v0",
        "connect_four_v0",
        "bid_v0",
        pytest.param("openspiel/kuhn_poker", marks=pytest.mark.needs("pyspiel")),
    ],
)
def test_sequence_grows_within_a_match_and_separates_knowledge(script, name):
    setting = script.SETTINGS[name]
    known = {}
    for seed in range(60):
        game = setting.game
        game.reset(np.random.default_rng(seed))
        before = {agent: [] for agent in game.agents}
        rng = np.random.default_rng(seed)
        while game.to_move:
            actions = []
            for agent in game.to_move:
                view = game.view(agent)
                tokens = setting.tokens(view)
                assert tokens[: len(before[agent])] == before[agent]
                before[agent] = tokens
                text = repr(view)
                assert known.setdefault(tuple(tokens), text) == text
                actions.append(game.random_action(agent, rng))
            game.apply(tuple(actions))


def test_decisions_do_not_depend_on_the_batch(script):
    network = script.Transformer(script.SETTINGS["tictactoe_v0"], 16, 2, 2)
    alone = network.decide([[1, 2]])[0][0]
    beside = network.decide([[1, 2], [1, 3, 4, 5, 6]])[0][0]
    assert alone.numpy() == pytest.approx(beside.numpy(), abs=1e-5)


def first_position(script, name):
    """Returns the setting of a game, and the tokens of its first position."""
    setting = script.SETTINGS[name]
    setting.game.reset(np.random.default_rng(0))
    return setting, setting.tokens(setting.game.view("player_0"))


def reward_one_move(script, network, start, rows, action, learning_rate):
    """Makes ten updates on decisions at the start of a match, where one move pays."""
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    rng, generator, baselines = np.random.default_rng(0), torch.Generator().manual_seed(0), script.RoleBaselines()
    for _ in range(10):
        legal = range(network.setting.actions)
        records = [script.Record(0, list(start), [len(start) - 1], legal=[legal]) for _ in range(rows)]
        script._decide(network, records, generator)
        for record in records:
            record.reward = float(record.actions == [action])
        script.update(network, optimizer, records, baselines, script.Options(**SMALL), rng)


def chance(network, start, action):
    return math.exp(network.decide([start])[0].log_softmax(1)[0, action])


def test_update_makes_a_rewarded_move_likelier(script):
    import torch

    torch.manual_seed(0)
    setting, start = first_position(script, "tictactoe_v0")
    network = script.Transformer(setting, 16, 1, 2)
    before = chance(network, start, 4)
    reward_one_move(script, network, start, 64, 4, learning_rate=3e-3)
    assert chance(network, start, 4) > 2 * before


@pytest.mark.slow
@pytest.mark.needs("peft", "pyspiel")
def test_language_models_learn_apart_and_play_on_from_checkpoints(script, tiny_model, tmp_path):
    import torch

    torch.manual_seed(0)
    setting, start = first_position(script, "openspiel/kuhn_poker")
    learner, other = (script.LanguageModel(setting, str(tiny_model), 8) for _ in range(2))
    before = chance(learner, start, 1)
    assert chance(other, start, 1) == pytest.approx(before)
    reward_one_move(script, learner, start, 16, 1, learning_rate=1e-2)
    assert chance(learner, start, 1) > before + 0.2
    assert chance(other, start, 1) == pytest.approx(before)
    script.save(learner, tmp_path / "one")
    again = script.load(tmp_path / "one")
    assert chance(again, start, 1) == pytest.approx(chance(learner, start, 1))
    assert script.exploitability(again) > 0


@pytest.mark.needs("peft", "pyspiel")
def test_language_model_reads_rules_card_and_moves(script, tiny_model):
    setting = script.SETTINGS["openspiel/kuhn_poker"]
    network = script.LanguageModel(setting, str(tiny_model), 1)
    tokenizer = script._pretrained(str(tiny_model), "cpu").tokenizer
    tokens = [script.START, script.FIRST_SEAT + 1, script.FIRST_FACT + 2, setting.first_move]
    text = tokenizer.decode([token for each in tokens for token in network._texts[each]])
    assert text.startswith("You are playing Kuhn poker")
    assert text.endswith("A: Pass\nB: Bet\n\nYou are player_1.\nYour card: king\nA")


@pytest.mark.needs("peft")
@pytest.mark.parametrize("model", ["nowhere/model", "."])
def test_checkpoint_of_an_absent_language_model_is_refused(script, tmp_path, model):
    from safetensors.torch import save_file

    size = json.dumps({"game": "tictactoe_v0", "model": model, "rank": 8})
    save_file({}, tmp_path / "file", metadata={"network": size})
    with pytest.raises(OptionError, match="expected the directory of a causal language model"):
        script.checkpoint(str(tmp_path / "file"))


@pytest.mark.slow
def test_smoke_run_writes_curve_checkpoints_ratings_and_summary(script, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["train_self_play", "--smoke", "--out", str(out), "--picture", str(out / "curve")])
    script.main()
    result = json.loads((out / "curve.json").read_text())
    names = ["update-0000", "update-0002", "update-0004"]
    assert [own["name"] for own in result["checkpoints"]] == names
    assert sorted(path.stem for path in (out / "checkpoints").iterdir()) == names
    assert len(result["updates"]) == 4
    assert all(own["self_play"] == 0 for own in result["updates"])
    assert (out / "summary.md").read_text() in capsys.readouterr().out
    assert (out / "curve.svg").read_text().startswith("<?xml")

    from rating.cli import main

    main(["rate", str(out / "ratings"), "--json"])
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert {row["policy"] for row in board["rows"]} == {*names, "random", "first_legal", "greedy", "minimax"}
    with pytest.raises(SystemExit, match="expected a new or empty directory"):
        script.main()
