"""Logs of games that TextArena plays: the reader finds the forfeits that TextArena flags."""

import json
import random
import re

import pytest

from rating.readers.formats import open_log

pytestmark = [pytest.mark.needs("textarena"), pytest.mark.slow]

MODELS = "abcdef"


def play(name, players, game, act):
    """Returns the rows of a game, and the models that TextArena flags."""
    import textarena

    env = textarena.make(name)
    env.reset(num_players=players, seed=game)
    seen, done, moves = [{} for _ in range(players)], False, 0
    while not done:
        player, observation = env.get_observation()
        action = act(player, observation, moves)
        seen[player][f"2025-10-20 09:{moves:04}"] = {"observation": observation, "action": action}
        done, _ = env.step(action)
        moves += 1
    rewards, infos = env.close()
    rows = [
        {
            "game_id": game,
            "env_name": name,
            "player_id": player,
            "model_name": MODELS[player],
            "opponent_names": {str(one): MODELS[one] for one in range(players) if one != player},
            "rewards": {str(one): reward for one, reward in rewards.items()},
            "observations": json.dumps(seen[player]),
            "status": "finished",
            "reason": infos[player].get("reason"),
        }
        for player in range(players)
    ]
    return rows, {MODELS[player] for player, info in infos.items() if info["invalid_move"]}


@pytest.mark.parametrize(("name", "players"), [("SecretMafia-v0", 6), ("ColonelBlotto-v0", 2)])
def test_forfeits_are_the_ones_of_textarena(name, players, tmp_path):
    rng, rows, flagged = random.Random(0), [], {}
    for game in range(6):

        def act(player, observation, moves, bad=game % 3):
            if player == bad and moves > 3:
                return "no idea"
            if players == 2:
                return rng.choice(["[A10 B5 C5]", "[A5 B10 C5]", "[A7 B7 C6]"])
            choices = re.findall(r"\[(\d)\]", observation.split("\n")[-1])
            return f"[{rng.choice(choices)}]" if choices else "hello"

        own, flagged[f"game {game}"] = play(name, players, game, act)
        rows += own
    path = tmp_path / "games.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = {deal: set() for deal in flagged}
    for seat in open_log([path]).conduct[name]:
        found[seat.deal] |= {seat.policy} if seat.forfeited else set()
    assert found == flagged
    assert any(flagged.values())
