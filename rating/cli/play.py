"""``llmarena play``: play one match on the terminal, or in a browser as a recorded run."""

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomlkit
from pettingzoo import AECEnv

from agents.baselines.default_opponents import default_opponent
from agents.human_queue import HumanQueue
from agents.models import ModelService
from agents.models.preflight import check_models
from agents.play import play_and_close
from agents.player import Player
from agents.policy import Policy
from agents.records import Episode, Turn
from agents.registry import make_policy
from llmarena_envs.catalogue import canonical_name, load_environment, make_environment
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_choice, parse_options
from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.cli.playing import check_complete, free_directory, play_run, resumable, run_line
from rating.cli.serve import listener_if_asked, web_flags
from rating.config.run_file import PERSON
from rating.play import run_directory
from rating.play.session import Session
from rating.schemes.registry import find_scheme
from rating.store.environments import admit
from rating.store.export import write_jsonl
from rating.store.records import PLAYED, Record

_LONGEST_REASON = 300
"""Maximum characters printed of the error of a match; its record has the full text."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "env", metavar="ENV", help="environment, e.g. tictactoe_v0, or your own: nim.py, package.module"
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="SEAT=POLICY",
        help="policy of a seat, e.g. player_0=human; free seats get you and baselines",
    )
    flags.add_option(parser)
    parser.add_argument("--seed", type=flags.count, default=0, help="seed of the match (default 0)")
    flags.add_cache(parser)
    flags.add_web(parser)
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="with --web: run directory (default: llmarena-play, or a numbered one)",
    )


def main(args: argparse.Namespace) -> None:
    """Plays one match on the terminal, or in a browser with ``--web``."""
    admit([args.env], [seat.partition("=")[2] for seat in args.policy])
    agents = make_environment(args.env, parse_options(args.option, "--option")).possible_agents
    specs = fill_seats(args.env, _read_seats(args.policy, agents), agents)
    if args.web:
        _play_in_browser(args, specs)
        return
    if len(args.policy) < len(agents):
        print(", ".join(f"{agent}: {spec}" for agent, spec in specs.items()), file=sys.stderr)
    with ExitStack() as stack:
        cache = Session(cache=args.cache, offline=args.offline).open_cache()
        if cache is not None:
            stack.enter_context(closing(cache))
        service = ModelService(cache=cache, offline=args.offline)
        _play_on_terminal(args, specs, service)


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


def _play_on_terminal(args: argparse.Namespace, specs: Mapping[str, str], service: ModelService) -> None:
    env = make_environment(args.env, parse_options(args.option, "--option"))
    environment = canonical_name(args.env)
    players = {agent: Player(make_policy(spec, environment, service=service)) for agent, spec in specs.items()}
    # A human player must not see the observations and replies of the others.
    is_shown = not args.json and not any(player.is_person for player in players.values())

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
            return await play_and_close(env, players, args.seed, on_turn=show if is_shown else lambda turn: None)
        finally:
            await service.close()

    episode = args.interruptions.run(check_and_play)
    if args.json:
        print(json.dumps(asdict(episode), indent=2, ensure_ascii=False))
        return
    if not is_shown:
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)))
    for agent, reward in episode.rewards.items():
        print(printable(f"{agent} ({specs[agent]}): {reward:+g}{_forfeit(episode.forfeit(agent))}"))


async def _check(env: AECEnv, policies: Mapping[str, Policy], seed: int) -> None:
    """Checks that every model responds.

    Raises:
        ProviderError: if a model does not.
    """
    env.reset(seed=seed)
    first = env.observe(env.agent_selection)
    for error in (await check_models(policies, dict.fromkeys(policies, first))).values():
        raise error


def _play_in_browser(args: argparse.Namespace, specs: Mapping[str, str]) -> None:
    """Plays a match with people in browsers, records it, and prints its result."""
    directory = free_directory(args.out or Path("llmarena-play"))
    with listener_if_asked(args) as listener, resumable(directory, resume_flags := web_flags(args, listener)):
        session = Session(cache=args.cache, offline=args.offline, quiet=True, human_queue=HumanQueue())
        run, store = run_directory.create(directory, run_file(args, specs), "command line", offline=session.offline)
        output = sys.stderr if args.json else None
        with run_directory.held(directory, store):
            void = play_run(
                directory, run, store, args.interruptions, session, listener, output, board=not run.config.people()
            )
            if args.json:
                write_jsonl(store.records(), sys.stdout)
            else:
                _print_rewards(next(store.records()))
            print(run_line(directory), file=output)
    check_complete(directory, void, flags=resume_flags)


def fill_seats(environment: str, specs: Mapping[str, str], agents: list[str]) -> dict[str, str]:
    """Fills the free seats: one with a person, unless there is one already, and the others with baselines.

    Args:
        environment: environment name.
        specs: given policy specs by seat.
        agents: all seats.
    """
    declaration = load_environment(environment).declaration
    free = [agent for agent in agents if agent not in specs]
    own = next((agent for agent in free if declaration.is_rated(agent)), "") if PERSON not in specs.values() else ""
    added = {agent: PERSON if agent == own else default_opponent(environment, agent) for agent in free}
    return {agent: {**specs, **added}[agent] for agent in agents}


def run_file(args: argparse.Namespace, specs: Mapping[str, str]) -> str:
    """Returns the run file of a match in a browser."""
    name, options = canonical_name(args.env), parse_options(args.option, "--option")
    declaration = load_environment(name).declaration
    names = _policy_names(specs)
    staff: dict[str, list[str]] = {}
    for agent in make_environment(name, options).possible_agents:
        if not declaration.is_rated(agent):
            staff.setdefault(role_of(agent), []).append(names[agent])
    seats = [names[agent] for agent in specs if declaration.is_rated(agent)]
    policies = [
        {"spec": spec, "name": names[agent], "rated": declaration.is_rated(agent)} for agent, spec in specs.items()
    ]
    environment: dict[str, Any] = {
        "name": name,
        "options": options,
        "rated_options": False,
        "seats": seats,
        "staff": staff,
    }
    if fixed := find_scheme(name, declaration.scheme).with_seats:
        environment["scheme"] = fixed
    run = {"seed": args.seed, "executor": "asyncio", "stop": {"matches": 1}}
    return tomlkit.dumps({**run, "environment": [environment], "policy": policies})


def _policy_names(specs: Mapping[str, str]) -> dict[str, str]:
    """Returns policy names by seat. A policy on several seats gets the seat in its name."""
    played = [*specs.values()]
    return {agent: f"{spec} {agent}" if played.count(spec) > 1 else spec for agent, spec in specs.items()}


def _print_rewards(record: Record) -> None:
    if record.outcome is None or record.outcome.status not in PLAYED:
        print(printable(f"The match failed: {' '.join(record.error.split())[:_LONGEST_REASON]}"))
        return
    for seat in record.outcome.seats:
        print(printable(f"{seat.agent} ({seat.policy}): {seat.reward:+g}{_forfeit(seat.forfeit)}"))


def _forfeit(reason: str) -> str:
    return f", forfeit ({reason})" if reason else ""
