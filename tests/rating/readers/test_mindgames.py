"""Logs of MindGames: skill apart from errors and survival, forfeits by game, teams, and hostile rows."""

import json
import math

import numpy as np
import pytest

from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.readers.formats import open_log
from rating.schemes.battles import battle_leaderboard

SKILL = {"brilliant": 1.5, "steady": 0.6, "middling": 0.0, "plodder": -0.9}
ERRORS = {"brilliant": 0.45, "steady": 0.05, "middling": 0.25, "plodder": 0.0}
WARNING = "\n[-1] Player {} attempted an invalid move. Reason: Invalid input format. Please resubmit a valid move."


def rows_of(game, models, rewards, observations, reason="Commander Alpha wins 5-3!", env="ColonelBlotto-v0"):
    """The rows of one game; an observation text for each player."""
    return [
        {
            "player_game_id": 10 * game + player,
            "game_id": game,
            "player_id": player,
            "env_name": env,
            "model_name": model,
            "opponent_names": json.dumps({str(one): name for one, name in enumerate(models) if one != player}),
            "rewards": json.dumps({str(one): reward for one, reward in enumerate(rewards)}),
            "observations": json.dumps(
                {"2025-10-20 09:00:00+00": {"observation": observations[player], "action": "x"}}
            ),
            "num_turns": 9,
            "status": "finished",
            "reason": reason,
        }
        for player, model in enumerate(models)
    ]


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def planted(games, seed=0):
    """Games between models of known skill, who forfeit at their own rates."""
    rng, found = np.random.default_rng(seed), []
    for game in range(games):
        models = rng.permutation(sorted(SKILL))[:2].tolist()
        texts, loser = ["[-1] You are Commander."] * 2, None
        for player in (0, 1):
            if loser is None and rng.random() < ERRORS[models[player]]:
                texts[player] += WARNING.format(player)
                if rng.random() < 0.6:
                    loser = player
                else:
                    texts[player] += "\n[-1] Round 2."
        reason = "Commander Alpha wins 5-3!" if loser is None else "Invalid input format."
        if loser is None:
            lead = SKILL[models[0]] - SKILL[models[1]]
            loser = int(rng.random() < 1 / (1 + math.exp(-lead)))
        found += rows_of(game, models, [1 - 2 * (loser == 0), 1 - 2 * (loser == 1)], texts, reason)
    return found


def test_rate_planted_confound_tells_skill_from_errors(tmp_path):
    log = open_log([write(tmp_path / "mg.jsonl", planted(1200))])
    (environment,) = log.battles
    board = battle_leaderboard(environment, log.battles[environment], conduct=log.conduct[environment])
    rows = {row.policy: row for row in board.rows}
    raw = sorted(rows, key=lambda name: -rows[name].rating.value)
    skill = sorted(rows, key=lambda name: -rows[name].values["rating_without_forfeits"].value)
    assert raw[0] == "steady"  # it survives by the errors of others
    assert skill == list(SKILL)
    for name, row in rows.items():
        errors, forfeits = row.values["errors"], row.values["forfeits"]
        assert forfeits.low <= 0.6 * ERRORS[name] * 1.01 and forfeits.value <= errors.value
        assert forfeits.high >= 0.5 * ERRORS[name]
    assert rows["plodder"].values["others_forfeits"].low > rows["brilliant"].values["others_forfeits"].high
    assert any("games were decided by a forfeit" in caveat for caveat in board.caveats)


def test_read_forfeits_of_every_kind(tmp_path):
    names = ["a", "b", "c", "d"]
    team = [1, 1, -1, -1]
    chat = "[-1] Day breaks.\n[2] ignore: Player 0 has been eliminated by making an invalid move."
    out = "[-1] Player 3 has been eliminated by making an invalid move."
    clue = "Player 2 mentioned a clue that is a subset/ exact match of words on the board."
    late = "[GAME] Go." + WARNING.format(1)
    rows = [
        *rows_of(1, names, team, [chat, "", out, ""], "Village wins!", "SecretMafia-v0"),
        *rows_of(2, names, team, [""] * 4, clue, "Codenames-v0"),
        *rows_of(3, names[:2], [1, -1], ["", late], "Commander Alpha wins 5-3!"),  # warned, then lost by play
        *rows_of(4, names[:2], [1, -1], ["", late], "Invalid input format."),
        *rows_of(5, names, team, ["", "[-1] Vote." + WARNING.format(1), "", ""], "Mafia wins!", "SecretMafia-v0"),
    ]
    rows[-3]["observations"] = rows[-3]["observations"].replace("09:00", "09:01")  # the last move of the game
    log = open_log([write(tmp_path / "mg.jsonl", rows)])

    def seats(environment, deal):
        return {seat.policy: seat for seat in log.conduct[environment] if seat.deal == deal}

    mafia, words = seats("SecretMafia-v0", "game 1"), seats("Codenames-v0", "game 2")
    assert [name for name, seat in seats("SecretMafia-v0", "game 5").items() if seat.forfeited] == ["b"]
    assert [name for name in names if mafia[name].forfeited] == ["d"]  # a player's chat is no line of the game
    assert [name for name in names if words[name].forfeited] == ["c"]
    assert [words[name].others_forfeited for name in names] == [True, True, False, True]
    blotto = [seats("ColonelBlotto-v0", f"game {game}")["b"] for game in (3, 4)]
    assert [(seat.erred, seat.forfeited) for seat in blotto] == [(True, False), (True, True)]
    assert len(log.battles["SecretMafia-v0"]) == 8  # team-mates do not tie
    assert [battle.is_forfeited for battle in log.battles["ColonelBlotto-v0"]] == [False, True]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rewards": "{"}, "rewards: expected a JSON object"),
        ({"rewards": "[" * 100_000}, "rewards: expected a JSON object"),
        ({"rewards": {"0": "x", "1": 1}}, "rewards: expected a number"),
        ({"rewards": {"0": 1}}, "rewards: expected 2 to 64 players"),
        ({"player_id": "９"}, "expected the number of a player"),
        ({"player_id": 7}, "with player 7"),
        ({"model_name": ["a"]}, "model_name: expected a text"),
        ({"model_name": "other"}, "expected the models of its rows before"),
        ({"observations": 3}, "observations: expected a JSON object"),
        ({"status": "running"}, "status: expected 'finished'"),
        ({"rewards": {"0": -1, "1": 1}}, "expected the rewards of its first row"),
    ],
)
def test_read_damaged_row_is_named_with_its_line(tmp_path, change, said):
    rows = rows_of(1, ["a", "b"], [1, -1], ["", ""])
    rows[1] |= change
    log = open_log([write(tmp_path / "mg.jsonl", rows)], "mindgames")
    assert log.rejected[0].where == "line 2"
    assert said in log.rejected[0].reason
    assert len(log.rejected[0].reason) < 400


def test_read_log_without_a_game_is_an_error(tmp_path):
    with pytest.raises(OptionError, match="expected results of pairs, got none"):
        open_log([write(tmp_path / "mg.jsonl", rows_of(1, ["a", "a"], [1, -1], ["", ""]))])


def test_rate_command_prints_skill_beside_errors(tmp_path, capsys):
    path = write(tmp_path / "mg.jsonl", planted(200, seed=3))
    assert main(["rate", str(path), "--wide"]) == 0
    said = capsys.readouterr().out
    assert all(title in said for title in ("no forfeits", "ff, %", "others' ff, %", "errors, %"))
