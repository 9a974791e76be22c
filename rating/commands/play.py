"""``llmarena play``: one match."""

import argparse
import json
from dataclasses import asdict

from agents.models.preflight import check_models
from agents.play import play_and_close
from agents.player import Player
from agents.records import Episode, Turn
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs.catalogue import canonical_name, load_environment, make_environment
from llmarena_envs.core.options import OptionError, check_choice, parse_options
from llmarena_envs.core.terminal import printable


def play(args: argparse.Namespace) -> None:
    """Plays one match and prints it."""
    env = make_environment(args.env, parse_options(args.option, "--option"))
    players = _players(args.policy, env.possible_agents, canonical_name(args.env))
    declared = load_environment(args.env).declaration
    settings = TurnSettings(unparsable=declared.unparsable, illegal=declared.illegal)
    # A person must not see what the others read and reply; a spectator may.
    watched = not args.json and not any(player.is_person for player in players.values())

    def show(turn: Turn) -> None:
        reply = turn.attempts[-1].reply
        print(f"{turn.agent}: {printable(turn.played or reply)}" + (f"  [{turn.fallback}]" if turn.fallback else ""))
        if turn.played and reply.strip() != turn.played:
            print(f"  from the reply: {printable(reply)}")
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)), end="\n\n")

    async def check_and_play() -> Episode:
        for error in (await check_models({agent: player.policy for agent, player in players.items()})).values():
            raise error
        return await play_and_close(env, players, args.seed, settings, on_turn=show if watched else lambda turn: None)

    episode = args.interruptions.run(check_and_play())
    if args.json:
        print(json.dumps(asdict(episode), indent=2, ensure_ascii=False))
        return
    if not watched:
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)))
    for agent, reward in episode.rewards.items():
        forfeit = episode.forfeit(agent)
        print(f"{agent}: {reward:+g}" + (f", forfeit ({forfeit})" if forfeit else ""))


def _players(seats: list[str], agents: list[str], environment: str) -> dict[str, Player]:
    """Makes the players named on the command line, one for each agent."""
    specs: dict[str, str] = {}
    for seat in seats:
        agent, equals, spec = seat.partition("=")
        if not equals:
            raise OptionError(f"--policy: expected SEAT=POLICY, e.g. player_0=random, got {seat!r}")
        check_choice("--policy: seat", agent, agents)
        if agent in specs:
            raise OptionError(f"--policy: expected one for {agent}, got {specs[agent]!r} and {spec!r}")
        specs[agent] = spec
    missing = [agent for agent in agents if agent not in specs]
    if missing:
        raise OptionError(f"--policy: expected one for each of {', '.join(agents)}; missing: {', '.join(missing)}")
    return {agent: Player(make_policy(specs[agent], environment)) for agent in agents}
