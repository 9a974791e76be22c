"""Rules about SVG drawings: only shapes and texts, no secrets, no illegal moves, no injection by players' texts."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
from gymnasium.spaces import Discrete

from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.text_env import MAX_ACTION_TEXT, TextEnv
from llmarena_envs.testing.hidden import redrawn_copy, redrawn_in
from llmarena_envs.testing.transcript import expect_equal, plain, snapshot
from llmarena_envs.testing.trial import Trial, is_over, random_move

MAX_SIZE = 300_000
"""Maximum number of characters of a drawing."""

ELEMENTS = frozenset(
    ("svg", "title", "desc", "g", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path", "text", "tspan")
)
"""Allowed elements of a drawing: no scripts, no references, no effect on the surrounding page."""

_SVG = "{http://www.w3.org/2000/svg}"
_REPLY = "data-reply"

HOSTILE_TEXTS = (
    """</text></title></desc></g></svg><intruder onload="alert(1)"/><!-- <![CDATA[ ]]> &intruder; "'><style>*{}</style>""",
    "\x00\x08\x0b\x1b[2J\x7f\x85\u2028\u202e\u2066\ufeff\ufffe\uffff\ud800 \udfff \U0001f3f4\u0301\u0301 \t\r\n" * 20,
)
LONG_TEXT = "&<\u202e" * (MAX_ACTION_TEXT // 4)
"""A hostile text that tries to break a drawing and to make it huge."""

LONG_EVERY = 16
"""Interval, in turns, of the long text, which is slow to parse."""


def drawings_are_plain_pictures(trial: Trial) -> None:
    """``draw`` returns well-formed SVG for a spectator and for every agent, with a title, of shapes and texts only.

    It contains no script, style or reference and at most ``MAX_SIZE`` characters, is deterministic, and has no side effects.
    ``render_mode="svg"``, if supported, returns the spectator's drawing.
    """
    mode = {"render_mode": "svg"} if "svg" in trial.make().metadata["render_modes"] else {}
    for env in _positions(trial, **mode):
        before = snapshot(env)
        _check_pictures(trial, env)
        if mode:
            expect_equal(trial, env.unwrapped.draw(), env.render(), "the picture for a spectator, from render()")
        expect_equal(trial, before, snapshot(env), "the position unchanged by being drawn")


def drawings_of_a_seat_show_its_view_alone(trial: Trial) -> None:
    """A fresh environment gives the same drawing for the same view, and so does one with hidden information redrawn.

    ``Game.resample`` redraws the hidden information.
    """
    fresh = trial.make().unwrapped
    for env in _positions(trial):
        raw = env.unwrapped
        for agent in env.possible_agents:
            picture = raw.draw(agent)
            drawn = _from_view(fresh, raw.view(agent), raw.ending(agent))
            expect_equal(trial, drawn, picture, "the picture as the view alone gives it", agent)
            if not (is_over(env) or raw.game.perfect_information):
                with redrawn_in(env, redrawn_copy(trial, raw.game, agent)):
                    expect_equal(trial, picture, raw.draw(agent), "the picture whatever is hidden", agent)


def _from_view(fresh: TextEnv, view: Any, ending: Ending | None) -> str:
    """Returns an environment's drawing of a view, and of the end of the match."""
    drawing = fresh.make_drawing()
    return drawing.forfeited(view, ending.offenders) if ending and ending.offenders else drawing.seat(view)


def replies_in_drawings_are_legal_moves(trial: Trial) -> None:
    """Each ``data-reply`` in a seat's drawing parses as a legal move.

    Drawings of a seat that is not to move, and of a spectator, have none.
    """
    for env in _positions(trial):
        raw = env.unwrapped
        for agent in (None, *env.possible_agents):
            replies = [
                found.get(_REPLY, "") for found in _read(trial, raw.draw(agent), agent).iter() if _REPLY in found.attrib
            ]
            if agent is None or not raw.view(agent).to_move:
                trial.expect(not replies, "no replies for somebody who is not to move", replies, agent)
                continue
            for reply in replies:
                try:
                    raw.parse(reply, agent)
                except InvalidReply as error:
                    trial.fail("replies in the published grammar that are legal moves", f"{reply!r}: {error}", agent)


def hostile_texts_stay_text_in_drawings(trial: Trial) -> None:
    """Players' texts appear as plain text in drawings, and do not make them huge."""
    env = trial.make()
    if not isinstance(env.unwrapped, TextEnv) or isinstance(env.action_space(env.possible_agents[0]), Discrete):
        return
    seed = trial.seeds[0]
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    trial.seed = seed
    for trial.turn in range(env.unwrapped.max_turns):
        if is_over(env):
            break
        is_long = trial.turn % LONG_EVERY == len(HOSTILE_TEXTS)
        text = LONG_TEXT if is_long else HOSTILE_TEXTS[trial.turn % len(HOSTILE_TEXTS)]
        env.step(_hostile_move(env, text, rng))
        if trial.is_rare_turn or is_over(env):
            _check_pictures(trial, env)


def _hostile_move(env: Any, text: str, rng: np.random.Generator) -> str:
    """Returns a legal action with a hostile text if possible, else a random one."""
    agent, move = env.agent_selection, random_move(env, rng)
    for action in (f"{text}\n{move}", text):
        try:
            env.unwrapped.check_action(action, agent)
        except InvalidReply:
            continue
        return action
    return str(move)


def _positions(trial: Trial, **more: Any) -> Iterator[Any]:
    """Yields an environment at some positions of random matches, mostly early ones, and at their ends."""
    if not isinstance(trial.make().unwrapped, TextEnv):
        return
    for env in trial.positions(**more):
        if not env.agents or (trial.is_rare_turn and not is_over(env)):
            yield env


def _check_pictures(trial: Trial, env: Any) -> None:
    for agent in (None, *env.possible_agents):
        picture = env.unwrapped.draw(agent)
        _check_picture(trial, _read(trial, picture, agent), agent)
        trial.expect(len(picture) <= MAX_SIZE, f"at most {MAX_SIZE} characters of SVG", len(picture), agent)
        expect_equal(trial, plain(picture), plain(env.unwrapped.draw(agent)), "the same picture once more", agent)


def _read(trial: Trial, picture: Any, agent: str | None) -> ElementTree.Element:
    trial.expect(isinstance(picture, str), "a text", picture, agent)
    try:
        # As bytes, because surrogates cannot be encoded. Entities are not expanded: their declaration would need a doctype.
        trial.expect("<!DOCTYPE" not in picture, "no document type", picture, agent)
        return ElementTree.fromstring(picture.encode())
    except (ElementTree.ParseError, UnicodeEncodeError) as error:
        trial.fail("well-formed XML", f"{error} in {picture[:200]!r}", agent)


def _check_picture(trial: Trial, root: ElementTree.Element, agent: str | None) -> None:
    trial.expect(root.tag == f"{_SVG}svg", "an svg element with the namespace of SVG", root.tag, agent)
    title = root.find(f"{_SVG}title")
    trial.expect(title is not None and (title.text or "").strip(), "a title", "none", agent)
    trial.expect({"width", "height", "viewBox"} <= set(root.attrib), "width, height and viewBox", [*root.attrib], agent)
    for element in root.iter():
        strange = element.tag.removeprefix(_SVG)
        trial.expect(strange in ELEMENTS, f"elements out of {sorted(ELEMENTS)}", strange, agent)
        refused = [
            name
            for name, value in element.attrib.items()
            if name.startswith(("on", "{")) or name in ("style", "class", "id", "href") or _refers(name, value)
        ]
        trial.expect(not refused, "no attributes that run, style or refer to anything", refused, agent)


def _refers(name: str, value: str) -> bool:
    return not name.startswith("data-") and "url(" in value.lower()


RULES = (
    drawings_are_plain_pictures,
    drawings_of_a_seat_show_its_view_alone,
    replies_in_drawings_are_legal_moves,
    hostile_texts_stay_text_in_drawings,
)
