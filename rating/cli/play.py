"""``llmarena play``: play one match."""

import argparse
import json
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict

from pettingzoo import AECEnv

from agents.models import ModelService
from agents.models.preflight import check_models
from agents.play import play_and_close
from agents.player import Player
from agents.policy import Policy
from agents.records import Episode, Turn
from agents.registry import make_policy
from llmarena_envs.catalogue import canonical_name, make_environment
from llmarena_envs.core.options import OptionError, check_choice, parse_options
from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.cli.play_web import play_in_browser, with_company
from rating.play.session import Session
from rating.store.environments import admit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("env", metavar="ENV", help="environment, e.g. tictactoe_v0")
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="SEAT=POLICY",
        help="e.g. player_0=human; once for every seat (with --web those left out are a person, if there is none, and baselines)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    parser.add_argument("--seed", type=flags.count, default=0, help="seed of the match (default 0)")
    flags.add_cache(parser)
    flags.add_web(parser)
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="with --web: directory of the match (default: llmarena-play, or a numbered one)",
    )


def main(args: argparse.Namespace) -> None:
    """Plays one match on the terminal, or in a browser with ``--web``."""
    admit([args.env], [seat.partition("=")[2] for seat in args.policy])
    if args.web:
        agents = make_environment(args.env, parse_options(args.option, "--option")).possible_agents
        play_in_browser(args, with_company(args.env, _read_seats(args.policy, agents), agents))
        return
    session = Session(cache=args.cache, offline=args.offline)
    with ExitStack() as stack:
        cache = session.open_cache()
        if cache is not None:
            stack.enter_context(closing(cache))
        _play(args, ModelService(cache=cache, offline=session.offline))


def _play(args: argparse.Namespace, service: ModelService) -> None:
    env = make_environment(args.env, parse_options(args.option, "--option"))
    specs, environment = _specs(args.policy, env.possible_agents), canonical_name(args.env)
    players = {agent: Player(make_policy(spec, environment, service=service)) for agent, spec in specs.items()}
    # A human player must not see the observations and replies of the others.
    watched = not args.json and not any(player.is_person for player in players.values())

    def show(turn: Turn) -> None:
        reply = turn.attempts[-1].reply
        print(f"{turn.agent}: {printable(turn.played or reply)}" + (f"  [{turn.fallback}]" if turn.fallback else ""))
        if turn.played and reply.strip() != turn.played:
            print(f"  from the reply: {printable(reply)}")
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)), end="\n\n")

    async def check_and_play() -> Episode:
        try:
            if not service.offline:
                await _check(env, {agent: player.policy for agent, player in players.items()}, args.seed)
            return await play_and_close(env, players, args.seed, on_turn=show if watched else lambda turn: None)
        finally:
            await service.close()

    episode = args.interruptions.run(check_and_play)
    if args.json:
        print(json.dumps(asdict(episode), indent=2, ensure_ascii=False))
        return
    if not watched:
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)))
    for agent, reward in episode.rewards.items():
        forfeit = episode.forfeit(agent)
        print(f"{agent}: {reward:+g}" + (f", forfeit ({forfeit})" if forfeit else ""))


async def _check(env: AECEnv, policies: Mapping[str, Policy], seed: int) -> None:
    """Checks that every model responds.

    Raises:
        ProviderError: if a model does not.
    """
    env.reset(seed=seed)
    first = env.observe(env.agent_selection)
    for error in (await check_models(policies, dict.fromkeys(policies, first))).values():
        raise error


def _specs(seats: list[str], agents: list[str]) -> dict[str, str]:
    """Returns the policy spec of each agent, in the order of the agents."""
    specs = _read_seats(seats, agents)
    missing = [agent for agent in agents if agent not in specs]
    if missing:
        raise OptionError(f"--policy: expected one for each of {', '.join(agents)}; missing: {', '.join(missing)}")
    return {agent: specs[agent] for agent in agents}


def _read_seats(seats: list[str], agents: list[str]) -> dict[str, str]:
    """Reads ``SEAT=POLICY`` flags into policy specs by agent."""
    specs: dict[str, str] = {}
    for seat in seats:
        agent, equals, spec = seat.partition("=")
        if not equals:
            raise OptionError(f"--policy: expected SEAT=POLICY, e.g. player_0=random, got {seat!r}")
        check_choice("--policy: seat", agent, agents)
        if agent in specs:
            raise OptionError(f"--policy: expected one for {agent}, got {specs[agent]!r} and {spec!r}")
        specs[agent] = spec
    return specs
