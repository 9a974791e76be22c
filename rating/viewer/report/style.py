"""Table of style-controlled ratings."""

from rating.schemes import formatting
from rating.schemes.caveats import claims
from rating.schemes.leaderboard import ALWAYS, Ranks
from rating.stats.style import StyleControl
from rating.viewer.report.tables import Sheet


def style_sheet(control: StyleControl, environment: str = "") -> Sheet:
    """Returns style-controlled ratings, plain ratings and style effects.

    Args:
        control: ratings and effects.
        environment: environment name.
    """
    rows = [
        [
            formatting.ranks(row.best_rank, row.worst_rank),
            row.policy,
            formatting.rating(row.rating._replace(is_linked=True)),
            formatting.number(row.plain, 0),
            f"{row.rating.value - row.plain:+.0f}",
        ]
        for row in control.rows
    ]
    effects = "; ".join(
        f"{name} {value:+.0f} [{low:.0f}, {high:.0f}]" for name, (value, low, high, *_) in control.effects.items()
    )
    notes = [
        claims([(row.policy, Ranks(row.best_rank, row.worst_rank)) for row in control.rows]),
        f"held equal, with the effect of twice as much in Elo and its 95 % interval ({control.deals} deals): {effects}",
        *([f"the same on both sides of every result: {', '.join(control.alike)}"] if control.alike else []),
        "style control also takes away what longer or formatted answers are better by",
    ]
    return Sheet(
        f"{environment}: style control" if environment else "style control",
        ["rank", "policy", "rating, style equal", "rating", "change"],
        rows,
        [note for note in notes if note],
        [ALWAYS] * 5,
        texts=2,
        has_names=True,
    )
