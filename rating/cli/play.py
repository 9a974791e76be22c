"""``llmarena play``: play one match on the terminal, or in a browser as a recorded run."""

import argparse
import itertools
import json
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
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
from agents.seat_names import result_in_words, seat_name, seating
from llmarena_envs.catalogue import canonical_name, full_name, load_environment, make_environment
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_choice, parse_options
from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.cli.playing import check_complete, make_free_directory, play_run, resumable, run_line
from rating.cli.serve import listener_if_asked, show_end, web_flags
from rating.config.run_file import PERSON
from rating.play import run_directory
from rating.play.session import Session
from rating.schemes.registry import find_scheme
from rating.store.environments import admit
from rating.store.export import write_jsonl
from rating.store.records import PLAYED, UNDECIDED, Record
from rating.viewer.web.links import copy_links

_LONGEST_REASON = 300
"""Maximum characters printed of the error of a match; its record has the full text."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "env",
        type=full_name,
        metavar="ENV",
        help="environment, e.g. tictactoe_v0 or ttt, or your own: nim.py, package.module",
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
    flags.add_web(parser, any_port=True)
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
    with ExitStack() as stack:
        cache = Session(cache=args.cache, offline=args.offline).open_cache()
        if cache is not None:
            stack.enter_context(closing(cache))
        for seed in itertools.count(args.seed):
            _play_on_terminal(args, specs, seed, ModelService(cache=cache, offline=args.offline))
            if PERSON not in specs.values() or args.json or not _asks_again(seed + 1):
                return


def _asks_again(seed: int) -> bool:
    """Asks at a terminal for another match; Ctrl-C and Ctrl-D are a no.

    Args:
        seed: of the other match.
    """
    if not sys.stdin.isatty():
        return False
    try:
        answer = input(f"Play again with seed {seed}? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        print()
        return False
    return answer.strip().lower() in ("y", "yes")


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


def _play_on_terminal(args: argparse.Namespace, specs: Mapping[str, str], seed: int, service: ModelService) -> None:
    env = make_environment(args.env, parse_options(args.option, "--option"))
    environment = canonical_name(args.env)
    players = {agent: Player(make_policy(spec, environment, service=service)) for agent, spec in specs.items()}
    # A human player must not see the observations and replies of the others.
    has_person = any(player.is_person for player in players.values())
    is_shown = not args.json and not has_person
    if not args.json:
        own = _own_seat(specs)
        title = f"{seating(env.unwrapped.declaration, specs, own)}, seed {seed}"
        print(printable(title), end="\n\n", file=sys.stdout if has_person else sys.stderr)

    def show(turn: Turn) -> None:
        reply = turn.attempts[-1].reply
        print(f"{turn.agent}: {printable(turn.played or reply)}" + (f"  [{turn.fallback}]" if turn.fallback else ""))
        if turn.played and reply.strip() != turn.played:
            print(f"  from the reply: {printable(reply)}")
        print(printable(env.unwrapped.codec.picture(env.unwrapped.game)), end="\n\n")

    async def check_and_play() -> Episode:
        try:
            if not service.offline:
                await _check(env, {agent: player.policy for agent, player in players.items()}, seed)
            return await play_and_close(env, players, seed, on_turn=show if is_shown else lambda turn: None)
        finally:
            await service.close()

    episode = args.interruptions.run(check_and_play)
    if args.json:
        print(json.dumps(asdict(episode), indent=2, ensure_ascii=False))
        return
    if has_person:
        seen = [env.observe(agent)["text"] for agent, player in players.items() if player.is_person]
        picture = env.unwrapped.codec.picture(env.unwrapped.game)
        if not set(picture.splitlines()) <= set("\n".join(seen).splitlines()):
            print(f"\nThe whole position:\n{printable(picture)}")
        print()
    forfeits = {agent: episode.forfeit(agent) for agent in specs}
    _print_result(args.env, specs, episode.rewards, forfeits, undecided=episode.undecided)


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
    """Plays matches with people in browsers until they stop; see ``_play_recorded``."""
    with listener_if_asked(args) as listener:
        assert listener is not None
        before: Path | None = None
        for seed in itertools.count(args.seed):
            before = _play_recorded(args, specs, seed, listener, before)
            if before is None:
                return


def _play_recorded(
    args: argparse.Namespace, specs: Mapping[str, str], seed: int, listener: socket.socket, before: Path | None
) -> Path | None:
    """Plays a match with people in browsers, records it in a new directory, prints its result, and offers another one.

    Args:
        args: arguments of the command.
        specs: policy specs by seat.
        seed: seed of the match.
        listener: listening socket of the pages, which stays open.
        before: directory of the match before it, whose addresses stay valid.

    Returns:
        Its directory if a player starts another match; ``None`` if the players stop, or the command is interrupted after the
        match.
    """
    directory, output = make_free_directory(args.out or Path("llmarena-play")), sys.stderr if args.json else None
    flags_to_resume = web_flags(args, listener)
    is_played = continues = False
    with resumable(directory, flags_to_resume), ExitStack() as held:
        session = Session(cache=args.cache, offline=args.offline, quiet=True, human_queue=HumanQueue(continues=True))
        try:
            run, store = run_directory.create(
                directory, run_file(args, specs, seed), "command line", offline=session.offline
            )
        except BaseException:
            with suppress(OSError):  # not empty
                directory.rmdir()
            raise
        held.enter_context(run_directory.held(directory, store))
        if before is not None:
            copy_links(before, directory)

        async def end(queue: HumanQueue) -> None:
            nonlocal is_played, continues
            record = next(store.records())
            held.close()  # other commands can use the run while its pages wait
            is_played = record.outcome is not None and record.outcome.status in PLAYED
            if args.json:
                write_jsonl([record], sys.stdout)
            else:
                _print_record(record)
            print(run_line(directory), file=output, flush=True)
            if is_played and run.config.people():
                print("The page offers another match. Ctrl-C stops.", file=sys.stderr, flush=True)
                continues = await queue.ask_again(seed + 1)
            if not continues:
                await show_end(queue)

        try:
            void = play_run(
                directory,
                run,
                store,
                args.interruptions,
                session,
                listener.dup(),  # the server closes its own
                output,
                board=not run.config.people(),
                at_end=end,
            )
        except KeyboardInterrupt:
            if not is_played:
                raise
            return None
    check_complete(directory, void, flags=flags_to_resume)
    return directory if continues else None


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


def run_file(args: argparse.Namespace, specs: Mapping[str, str], seed: int) -> str:
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
    run = {"seed": seed, "executor": "asyncio", "stop": {"matches": 1}}
    return tomlkit.dumps({**run, "environment": [environment], "policy": policies})


def _policy_names(specs: Mapping[str, str]) -> dict[str, str]:
    """Returns policy names by seat. A policy on several seats gets the seat in its name."""
    played = [*specs.values()]
    return {agent: f"{spec} {agent}" if played.count(spec) > 1 else spec for agent, spec in specs.items()}


def _own_seat(policies: Mapping[str, str]) -> str:
    """Returns the seat of the only person; an empty string without one, or with several."""
    own = [agent for agent, policy in policies.items() if policy == PERSON]
    return own[0] if len(own) == 1 else ""


def _print_record(record: Record) -> None:
    if record.outcome is None or record.outcome.status not in PLAYED:
        print(printable(f"The match failed: {' '.join(record.error.split())[:_LONGEST_REASON]}"))
        return
    seats = record.outcome.seats
    _print_result(
        record.match.environment,
        {seat.agent: seat.policy for seat in seats},
        {seat.agent: seat.reward for seat in seats},
        {seat.agent: seat.forfeit for seat in seats},
        undecided=record.outcome.status == UNDECIDED,
    )


def _print_result(
    environment: str,
    policies: Mapping[str, str],
    rewards: Mapping[str, float],
    forfeits: Mapping[str, str],
    *,
    undecided: bool,
) -> None:
    """Prints who won, and the reward of each seat, with the names of the policies."""
    declaration = load_environment(environment).declaration
    you = _own_seat(policies)
    if words := result_in_words(declaration, policies, rewards, you, undecided=undecided):
        print(printable(words))
    for agent, reward in rewards.items():
        forfeit = f", forfeit ({forfeits[agent]})" if forfeits[agent] else ""
        print(printable(f"{seat_name(agent, policies, you)}: {reward:+g}{forfeit}"))
