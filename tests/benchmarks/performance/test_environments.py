import json
import random
import subprocess
import sys

import pytest

from benchmarks.performance import environments
from benchmarks.performance.environments import GAMES, Options, measure, ours, run, table
from llmarena_envs.core.options import OptionError


def test_every_game_has_its_peers():
    for game, contestants in GAMES.items():
        names = [contestant.name.split()[0] for contestant in contestants]
        assert names[:2] == ["llmarena", "llmarena"], game
        assert {"PettingZoo", "OpenSpiel"} & set(names), game


@pytest.mark.needs("pyspiel")
@pytest.mark.parametrize("game", GAMES)
def test_all_contestants_play_whole_legal_matches(game):
    for contestant in GAMES[game]:
        try:
            env = contestant.make(0)
        except ImportError:
            assert contestant.name.startswith("PettingZoo")  # its classic games need packages of their own
            continue
        rng = random.Random(0)
        lengths = [contestant.play(env, rng.random) for _ in range(20)]
        assert min(lengths) >= {"tictactoe": 5, "connect_four": 7}.get(game, 1)
        assert max(lengths) <= {"tictactoe": 9, "connect_four": 42}.get(game, 1000)


def test_matches_follow_the_seed():
    contestant = ours("connect_four-v0", random_opening=2)[0]

    def lengths(seed):
        env, rng = contestant.make(seed), random.Random(1)
        return [contestant.play(env, rng.random) for _ in range(30)]

    assert lengths(1) == lengths(1) != lengths(2)


@pytest.mark.needs("pyspiel")
def test_the_smoke_run():
    result = run(Options(games=("tictactoe",), smoke=True))
    measured = result["games"]["tictactoe"]
    names = {contestant.name for contestant in GAMES["tictactoe"]}
    assert measured["speeds"].keys() | measured["missing"].keys() == names
    assert measured["speeds"].keys() >= {"llmarena text", "llmarena vector", "OpenSpiel tic_tac_toe"}
    for speed in measured["speeds"].values():
        assert 0 < speed["median"] <= speed["best"]
    assert measured["speeds"][measured["reference"]]["ratio"] == 1.0
    assert result["options"]["rounds"] == 2
    assert set(result["games"]) == {"tictactoe"}
    json.dumps(result)


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_way_to_install_it():
    script = (
        "import json, sys; sys.modules['pygame'] = None;"
        "from benchmarks.performance.environments import GAMES, Options, measure;"
        "print(json.dumps(measure(GAMES['tictactoe'], Options(rounds=1, seconds=0.001))))"
    )
    shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    measured = json.loads(shown)
    assert measured["reference"] == "OpenSpiel tic_tac_toe"
    how = measured["missing"]["PettingZoo tictactoe-v3"]
    assert how.startswith("pip install 'pettingzoo[classic]' (")
    assert "pygame" in how
    assert f"not installed: {how}" in table({"games": {"tictactoe": measured}})


def test_without_any_peer_the_first_contestant_is_the_reference():
    measured = measure(ours("tictactoe-v0"), Options(rounds=1, seconds=0.001))
    assert measured["reference"] == "llmarena text"


def test_some_contestants_can_be_left_out():
    measured = measure(GAMES["tictactoe"], Options(rounds=1, seconds=0.001, only=("llmarena v",)))
    assert list(measured["speeds"]) == ["llmarena vector"]
    assert measured["missing"] == {}


def test_an_unknown_game_is_refused():
    with pytest.raises(OptionError, match=r"games: expected one of .*got 'tictacto'; did you mean 'tictactoe'"):
        run(Options(games=("tictacto",), smoke=True))


def test_the_command_line(tmp_path, monkeypatch, capsys):
    path = tmp_path / "result.json"
    monkeypatch.setattr(sys, "argv", ["environments", "--games", "tictactoe", "--smoke", "--json", str(path)])
    environments.main()
    assert "tictactoe: decisions a second" in capsys.readouterr().out
    assert json.loads(path.read_text())["games"]["tictactoe"]["speeds"]["llmarena text"]["median"] > 0
