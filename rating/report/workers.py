"""Who plays a run that several machines play, and how far it is."""

from collections.abc import Iterable, Mapping, Sequence

from rating.records.outcome import BUG, PLAYED, VOID
from rating.records.postgres.members import Member, State
from rating.records.record import UNFINISHED
from rating.report.tables import Sheet
from rating.schemes.leaderboard import ALWAYS

_GONE = (State.LEFT, State.DEAD, State.OVER, State.STOPPED)
_LONGEST_ERROR = 60


def is_gone(member: Member) -> bool:
    """Says whether somebody plays no more."""
    return member.state in _GONE


def an_hour(member: Member) -> float:
    """Returns how many matches a worker has played an hour."""
    return 3600 * member.played / member.age if member.age > 0 else 0.0


def worker_sheet(members: Sequence[Member], *, gone: bool = True) -> Sheet:
    """Returns what is shown of those who play a run.

    Args:
        members: all who have ever joined.
        gone: whether those are shown who play no more.
    """
    columns = {
        "who": ALWAYS,
        "id": ALWAYS,
        "host": ALWAYS,
        "state": ALWAYS,
        "executor": 3,
        "process": 2,
        "seen": ALWAYS,
        "playing": ALWAYS,
        "played": ALWAYS,
        "an hour": 6,
        "turns": 4,
        "calls": 7,
        "lost calls": 8,
        "last error": 1,
    }
    shown = [member for member in members if gone or not is_gone(member)]
    workers = [member for member in members if not member.coordinates]
    here, playing = sum(not is_gone(member) for member in workers), sum(member.playing for member in workers)
    dead, lost = sum(member.state is State.DEAD for member in workers), sum(member.lost for member in members)
    notes = [
        f"workers: {here}; matches that they hold: {playing}; workers that have died: {dead}, with {lost} calls under way"
    ]
    if not any(member.coordinates and member.state is State.WORKING and not member.is_late for member in members):
        notes.append("there is no coordinator that offers matches: nothing is claimed until the run goes on")
    return Sheet("Workers", list(columns), [_row(member) for member in shown], notes, list(columns.values()), texts=5)


def progress_sheet(counts: Mapping[tuple[str, str], int]) -> Sheet:
    """Returns how far each environment is.

    Args:
        counts: of its matches with each status, by its name and the status.
    """
    rows = [
        [
            environment,
            *(str(sum(counts.get((environment, status), 0) for status in group)) for group in _GROUPS.values()),
        ]
        for environment in dict.fromkeys(name for name, _ in counts)
    ]
    return Sheet("Matches", ["environment", *_GROUPS], rows, [], [ALWAYS] * (1 + len(_GROUPS)))


_GROUPS = {"played": PLAYED, "void": (VOID,), "bugs": (BUG,), "entered and not ended": (UNFINISHED,)}


def worker_table(members: Iterable[Member]) -> list[dict[str, object]]:
    """Returns those who play a run as tables of plain values."""
    return [
        {**member._asdict(), "state": member.state.value, "matches_an_hour": round(an_hour(member), 1)}
        for member in members
    ]


def _row(member: Member) -> list[str]:
    state = "late" if member.is_late and not is_gone(member) else member.state.value
    return [
        member.name,
        member.id,
        member.host,
        state,
        member.executor,
        str(member.process),
        f"{member.unseen:.0f} s ago",
        str(member.playing),
        str(member.played),
        f"{an_hour(member):.0f}",
        str(member.turns),
        str(member.calls),
        str(member.lost or ""),
        member.error.strip().splitlines()[-1][:_LONGEST_ERROR] if member.error.strip() else "",
    ]
