"""The curve of an analysis: the expected reward after each reply, and after the other replies, with the blamed turn marked."""

from llmarena_envs.core.svg import DIM, INK, LINE, Svg, cut, cut_to_width, round_numbers
from rating.blame.results import Blame, BlamedTurn

_WIDTH, _HEIGHT = 640.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 20.0, 64.0, 44.0
_BLAMED, _OTHER = "#b42318", "#0969da"
_MOST_LABELS = 24
_SIZE = 12


def verdict(result: Blame) -> str:
    """Returns the result in words."""
    if result.blamed is not None:
        turn = next(turn for turn in result.turns if turn.turn == result.blamed)
        return f"turn {turn.turn + 1} cost {interval(turn.cost, turn.low, turn.high)}"
    if result.needed is None:
        return "no turn is established"
    return f"no turn is established; --pairs {result.needed} may establish one"


def interval(mean: float | None, low: float | None, high: float | None) -> str:
    """Returns an estimate with its interval; empty without one."""
    return "" if mean is None or low is None or high is None else f"{mean:.2f} ({low:.2f} to {high:.2f})"


def curve(result: Blame) -> str:
    """Returns the SVG of an analysis."""
    question = result.question
    rewarded = f"Expected reward of {question.rewarded} after each reply of {question.seat}"
    words = verdict(result)
    drawing = Svg(_WIDTH, _HEIGHT, rewarded, f"{words}. Compared with {question.title}.")
    drawing.text(16, 24, cut_to_width(rewarded, _WIDTH - 32, 14, bold=True), 14, font_weight="bold")
    drawing.text(
        16, 44, cut_to_width(f"against {cut(question.title, 80)}: {words}", _WIDTH - 32, _SIZE), _SIZE, fill=DIM
    )
    points = [(turn, turn.value) for turn in result.turns if turn.value is not None]
    ends = [value for turn, kept in points for value in _values(turn, kept)] or [result.reward]
    ticks = round_numbers(ends, 3)
    low, high = ticks[0], ticks[-1]
    first, last = (points[0][0].turn, points[-1][0].turn) if points else (0, 0)

    def x_of(turn: BlamedTurn) -> float:
        return _LEFT + (turn.turn - first) / max(1, last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y_of(value: float) -> float:
        return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    for value in ticks:
        drawing.line(_LEFT - 6, y_of(value), _WIDTH - _RIGHT + 6, y_of(value), stroke=LINE)
        drawing.text(_LEFT - 12, y_of(value) + 4, f"{value:.3g}", _SIZE, fill=DIM, text_anchor="end")
    if len(points) > 1:
        path = " L".join(f"{x_of(turn):.2f} {y_of(kept):.2f}" for turn, kept in points)
        drawing.path(f"M{path}", fill="none", stroke=INK, stroke_width=2)
    for turn, kept in points:
        is_blamed = turn.turn == result.blamed
        x, y = x_of(turn), y_of(kept)
        if turn.cost is not None and turn.low is not None and turn.high is not None:
            ends = [min(max(kept + cost, low), high) for cost in (turn.low, turn.cost, turn.high)]
            drawing.line(x, y_of(ends[0]), x, y_of(ends[2]), stroke=_OTHER, stroke_width=2)
            drawing.circle(x, y_of(ends[1]), 4, fill=_OTHER)
        drawing.circle(x, y, 7 if is_blamed else 4, fill=_BLAMED if is_blamed else INK)
        if is_blamed or len(points) <= _MOST_LABELS:
            weight = {"fill": _BLAMED, "font_weight": "bold"} if is_blamed else {"fill": DIM}
            drawing.text(x, _HEIGHT - 24, f"{turn.turn + 1}", _SIZE, text_anchor="middle", **weight)
    legend = "black: after the recorded reply; blue: after the other one, with its interval; red: the blamed turn"
    drawing.text(16, _HEIGHT - 6, legend, 11, fill=DIM)
    return str(drawing)


def _values(turn: BlamedTurn, kept: float) -> list[float]:
    """Returns the values drawn of a turn."""
    return [kept, *(kept + cost for cost in (turn.low, turn.high) if cost is not None)]
