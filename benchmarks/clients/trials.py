"""Trials: one way to use a library each, on every environment that has the form it is for."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import NamedTuple

from benchmarks.clients.games import Make, Subject, subjects
from llmarena_envs.testing.time_limit import TimeUp, interrupted_after

ACCEPTED = "yes"
AS_PETTINGZOO = "= PZ"
REFUSED = "no"

_MAX_REASON = 200


class Row(NamedTuple):
    """Result of one trial on one environment.

    Attributes:
        client: the library's module below ``benchmarks.clients``.
        trial: name of the trial.
        form: one of ``games.FORMS``.
        game: the environment.
        verdict: ``yes``; ``= PZ`` if the library refuses PettingZoo's own environment with the same error; or ``no``.
        reason: the error, or ``""``.
        peer: the environment of PettingZoo that went through the same steps, or ``""``.
        peer_reason: the error with it, or ``""``.
        is_known: whether the library is known to refuse this environment.
    """

    client: str
    trial: str
    form: str
    game: str
    verdict: str
    reason: str = ""
    peer: str = ""
    peer_reason: str = ""
    is_known: bool = False


@dataclass(frozen=True)
class Trial:
    """One way to use a library.

    Attributes:
        name: name in the table.
        form: which form of the environments it is for.
        play: ``play(make, smoke)`` uses environments from ``make(**options)`` and lets the library's errors propagate;
            ``smoke`` asks for the fewest steps.
        only: names of environments that it is for; all by default.
        refuses: names of environments that the library is known not to take.
    """

    name: str
    form: str
    play: Callable[[Make, bool], None]
    only: Sequence[str] = ()
    refuses: Sequence[str] = ()


def run_trials(client: str, trials: Sequence[Trial], smoke: bool, seconds: int) -> Iterator[Row]:
    """Runs trials on all environments they are for, and on the peers of these.

    Args:
        client: name of the library's module.
        trials: the trials.
        smoke: whether to run the fewest steps.
        seconds: longest time for one trial on one environment.
    """
    for trial in trials:
        peers: dict[str, BaseException | None] = {}
        for subject in subjects(trial.form, trial.only):
            error = attempt(partial(trial.play, subject.make, smoke), seconds)
            if subject.peer and subject.peer not in peers:
                peers[subject.peer] = attempt(partial(trial.play, subject.make_peer, smoke), seconds)
            yield _row(client, trial, subject, error, peers.get(subject.peer))


def attempt(action: Callable[[], object], seconds: int) -> BaseException | None:
    """Does something with a time limit, without its output; returns its error, or ``None``."""
    try:
        with interrupted_after(seconds), warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            action()
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except TimeUp:
        return TimeoutError(f"not finished within {seconds} s")
    except BaseException as error:  # PettingZoo's tests and Ray raise more than Exception
        return error
    return None


def reason_of(error: BaseException | None) -> str:
    """Returns an error as one short line; empty for none."""
    if error is None:
        return ""
    text = " ".join(str(error).split())
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"


def _row(
    client: str, trial: Trial, subject: Subject, error: BaseException | None, peer_error: BaseException | None
) -> Row:
    reason, peer_reason = reason_of(error), reason_of(peer_error)
    refusal = AS_PETTINGZOO if reason == peer_reason else REFUSED
    return Row(
        client,
        trial.name,
        trial.form,
        subject.game,
        refusal if reason else ACCEPTED,
        reason,
        subject.peer,
        peer_reason,
        subject.game in trial.refuses,
    )
