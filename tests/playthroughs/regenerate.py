"""Golden playthroughs: seeded random matches written out as the agents read them.

``python -m tests.playthroughs.regenerate [ENVIRONMENT ...]`` writes the files beside this module anew; review the changes like
code. There is one file per environment and language, ``tictactoe_v0-en.txt``. Each of its sections begins with a line
``######## TITLE`` and is one match: those of ``PLAYTHROUGHS`` in ``tests/llmarena_envs/option_sets/<environment>.py``, then one
in updates, the texts that contain only what is new.
"""

import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from llmarena_envs.catalogue import CATALOGUE
from tests.llmarena_envs.option_sets import option_sets

FOLDER = Path(__file__).parent
SEED = 1
LANGUAGES = ("en", "zh")
OPTIONS_OF_CONVERSATIONS: dict[str, dict[str, Any]] = {
    "bid_v0": {"rounds": 3},
    "hanabi_v0": {"life_tokens": 3},
    "holdem_v0": {"players": 3, "hands": 3, "stack": 20},
    "writer_editor_v0": {"task": "translation", "max_rounds": 3},
}
"""Options of the matches that are told by what is new, where a match of the default ones is too short to show it."""


def golden_files(names: list[str]) -> dict[str, dict[str, Callable[[], str]]]:
    """Returns the files of some environments: functions that make the sections of each, by title."""
    files: dict[str, dict[str, Callable[[], str]]] = {
        f"{name}-{language}.txt": {} for name in names for language in LANGUAGES
    }
    for name in names:
        for title, options in option_sets(name).PLAYTHROUGHS.items():
            files[f"{name}-{options.get('language', 'en')}.txt"][title] = partial(playthrough, name, options)
        for language in LANGUAGES:
            options = {**OPTIONS_OF_CONVERSATIONS.get(name, {}), "language": language}
            files[f"{name}-{language}.txt"]["updates"] = partial(conversations, name, options)
    return files


def read_sections(file: str) -> dict[str, str]:
    """Returns the sections of a golden file by title."""
    _, *parts = re.split(r"^######## (.*)\n", (FOLDER / file).read_bytes().decode(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def playthrough(name: str, options: Mapping[str, Any]) -> str:
    """Plays one match of random legal moves and returns it as text.

    Each turn shows what the mover reads, what others read if that has changed, the action with its written form, and then
    the rewards, infos and the picture.
    """
    env = importlib.import_module(f"llmarena_envs.{name}").env(render_mode="ansi", **options)
    env.reset(seed=SEED)
    rng = np.random.default_rng(SEED)
    lines = [f"{name} with {json.dumps(options, ensure_ascii=False)}, seed {SEED}", *_rules(env)]
    lines += ["", "=== position", env.render()]
    read: dict[str, str] = {}
    turn = 0
    while not any(env.terminations.values()):
        turn += 1
        agent = env.agent_selection
        lines += ["", f"=== turn {turn}: {agent}", *_texts(env, read, agent)]
        action = env.unwrapped.random_action(agent, rng)
        lines += [f"--- {agent} plays {action!r}", env.unwrapped.format(action, agent)]
        env.step(action)
        lines += [
            f"--- rewards {json.dumps(env.rewards)}",
            f"--- infos {json.dumps(env.infos)}",
            "--- position",
            env.render(),
        ]
    lines += ["", "=== end", *_texts(env, read, None)]
    return "\n".join(lines) + "\n"


def conversations(name: str, options: Mapping[str, Any]) -> str:
    """Plays one match of random legal moves and returns what is said to each mover who is told what is new, and its moves."""
    env = importlib.import_module(f"llmarena_envs.{name}").env(**options)
    env.reset(seed=SEED)
    rng = np.random.default_rng(SEED)
    lines = [f"{name} with {json.dumps(options, ensure_ascii=False)}, seed {SEED}, in updates"]
    since: dict[str, Any] = {}
    turn = 0
    while not any(env.terminations.values()):
        turn += 1
        agent, raw = env.agent_selection, env.unwrapped
        view = raw.view(agent)
        text = raw.codec.update(view, since[agent]) if agent in since else raw.codec.observation(view)
        if not getattr(view, "fresh", False):
            since[agent] = view
        action = raw.random_action(agent, rng)
        lines += ["", f"=== turn {turn}: {agent} reads", text, f"--- {agent} writes", raw.format(action, agent)]
        env.step(action)
    return "\n".join(lines) + "\n"


def _rules(env: Any) -> list[str]:
    """Returns each text of rules once, under the agents who are told it."""
    told: dict[str, list[str]] = {}
    for agent in env.possible_agents:
        told.setdefault(env.observe(agent)["rules"], []).append(agent)
    return [line for rules, agents in told.items() for line in ("", f"=== rules for {', '.join(agents)}", rules)]


def _texts(env: Any, read: dict[str, str], mover: str | None) -> list[str]:
    """Returns what the mover reads, and the others if it is not what they read before."""
    lines = []
    for agent in env.possible_agents:
        text = env.observe(agent)["text"]
        if agent == mover or read.get(agent) != text:
            lines += [f"--- {agent} reads", text]
        read[agent] = text
    return lines


def main() -> None:
    """Writes the golden files of the environments named on the command line, or of all; removes those nobody asks for."""
    names = sys.argv[1:] or [entry.name for entry in CATALOGUE]
    files = golden_files(names)
    for path in FOLDER.glob("*.txt"):
        if path.name.split("-")[0] in names and path.name not in files:
            path.unlink()
    for file, sections in files.items():
        text = "".join(f"######## {title}\n{make()}" for title, make in sections.items())
        (FOLDER / file).write_text(text, encoding="utf-8", newline="\n")
        print(file)


if __name__ == "__main__":
    main()
