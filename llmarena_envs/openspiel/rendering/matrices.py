"""Renderings of matrix games."""

from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import prompts, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering

_GAMES = (
    "matching_pennies_3p",
    "matrix_bos",
    "matrix_brps",
    "matrix_cd",
    "matrix_coordination",
    "matrix_mp",
    "matrix_pd",
    "matrix_rps",
    "matrix_rpsw",
    "matrix_sh",
    "matrix_shapleys_game",
)


def _matrix(view: SpielView, language: str) -> tuple[Part, ...]:
    if not view.moves:
        return (prompts(language).render("matrix_open"),)
    return (prompts(language).render("matrix_over", moves=turns(view.moves, language)),)


def _iterated(view: SpielView, language: str) -> tuple[Part, ...]:
    rounds = [turns(view.moves[start : start + 2], language) for start in range(0, len(view.moves), 2)]
    lines = [f"Round {number}: {moves}" for number, moves in enumerate(rounds, 1)]
    return (f"Rounds played: {len(rounds)}", *lines)


RENDERINGS: Mapping[str, Rendering] = {
    **{game: Rendering(_matrix, shows_moves=True) for game in _GAMES},
    "iterated_prisoners_dilemma": Rendering(_iterated, shows_moves=True),
}
