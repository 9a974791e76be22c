"""Side pots and winnings."""

from collections.abc import Sequence


def side_pots(put_in: Sequence[int], live: Sequence[bool]) -> list[tuple[int, tuple[int, ...]]]:
    """Returns the main pot and the side pots: chips and competing seats of each.

    A player competes for each opponent's chips up to its own contribution. Uncalled chips form a last pot with one
    seat, which returns them.

    Args:
        put_in: chips of each seat in this hand.
        live: whether each seat has not folded.
    """
    pots = []
    below = 0
    for level in sorted({chips for chips, is_live in zip(put_in, live, strict=True) if is_live}):
        chips = sum([min(chips, level) - min(chips, below) for chips in put_in])
        pots.append((chips, tuple([seat for seat, is_live in enumerate(live) if is_live and put_in[seat] >= level])))
        below = level
    return pots


def split(chips: int, seats: Sequence[int], button: int, players: int) -> list[int]:
    """Returns equal shares of ``chips`` for ``seats``, one number per seat of the table.

    Odd chips go one each to the first of ``seats`` clockwise from the button.
    """
    share, odd = divmod(chips, len(seats))
    shares = [0] * players
    for place, seat in enumerate(sorted(seats, key=lambda seat: (seat - button - 1) % players)):
        shares[seat] = share + (place < odd)
    return shares


def winnings(put_in: Sequence[int], ranks: Sequence[int | None], button: int) -> list[int]:
    """Returns the chips each seat wins from the pots of a finished hand.

    Args:
        put_in: chips of each seat.
        ranks: rank of each seat's hand, lower is better; ``None`` for a folded seat.
        button: seat of the dealer button.
    """
    won = [0] * len(put_in)
    for chips, seats in side_pots(put_in, [rank is not None for rank in ranks]):
        best = min([rank for seat in seats if (rank := ranks[seat]) is not None])
        winners = [seat for seat in seats if ranks[seat] == best]
        if len(winners) == 1:
            won[winners[0]] += chips
        else:
            won = [had + share for had, share in zip(won, split(chips, winners, button, len(put_in)), strict=True)]
    return won
