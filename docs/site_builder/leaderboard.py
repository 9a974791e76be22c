"""A leaderboard as a picture: ratings as points on one scale, each with its interval."""

from typing import Any

from llmarena_envs.core.svg import DIM, INK, LINE, SOFT, Svg
from rating.schemes.leaderboard import Leaderboard
from rating.viewer.report.tables import sheet

_WIDTH, _ROW, _TOP, _BOTTOM = 440, 48, 76, 44
_LEFT, _RIGHT = 160, 412
_POINT = "#0969da"


def picture(board: Leaderboard, title: str) -> str:
    """Draws a leaderboard of ratings, as SVG.

    Args:
        board: of an environment whose players are rated, with an interval that is bounded for every one of them.
        title: above it.
    """
    ranks = [row[0] for row in sheet(board).rows]
    rows: list[Any] = list(board.rows)
    low, high = min(row.low for row in rows), max(row.high for row in rows)

    def x(rating: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (rating - low) / (high - low)

    words = "; ".join(
        f"{rank} {row.policy} {row.rating:.0f} [{row.low:.0f}, {row.high:.0f}]"
        for rank, row in zip(ranks, rows, strict=True)
    )
    bottom = _TOP + _ROW * len(rows)
    svg = Svg(_WIDTH, bottom + _BOTTOM, title, words)
    svg.text(20, 34, title, 18, font_weight="bold")
    svg.text(20, 58, "rank and policy", 13, fill=DIM)
    svg.text(_LEFT, 58, "rating in Elo with its 95 % interval", 13, fill=DIM)
    for mark in range(round(low / 250 + 0.5) * 250, round(high), 250):
        svg.line(x(mark), _TOP, x(mark), bottom, stroke=LINE)
        svg.text(x(mark), bottom + 22, f"{mark}", 13, fill=DIM, text_anchor="middle")
    for number, (rank, row) in enumerate(zip(ranks, rows, strict=True)):
        middle = _TOP + _ROW * number + _ROW / 2
        if number % 2 == 0:
            svg.rect(8, middle - _ROW / 2, _LEFT - 24, _ROW, fill=SOFT, rx=4)
        svg.text(20, middle + 6, rank, 15, fill=DIM)
        svg.text(52, middle + 6, row.policy, 15)
        svg.line(x(row.low), middle, x(row.high), middle, stroke=INK, stroke_width=2)
        svg.circle(x(row.rating), middle, 6, fill=_POINT)
    return str(svg)
