"""A row of a paper's catalogue: one table or figure, with its plan and its measurement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from agents.registry import is_model
from benchmarks.experiments.jobs import Asked, Job
from benchmarks.experiments.tables import Table
from benchmarks.options import option
from llmarena_envs.core.options import check_choice, parse_pairs
from rating.config.run_file import RunConfig
from rating.play.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmarks.experiments.runs import Played, PlayedRun


LANGUAGES = ("en", "zh")


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options of every row.

    Raises:
        OptionError: if an option has no valid value.
    """

    policy: tuple[str, ...] = option(
        (), "policies to measure beside the scripted ones, e.g. openai:MODEL; POLICY@ENV,... for some environments only"
    )
    alone: bool = option(False, "measure only the policies named, without the scripted ones")
    same: tuple[str, ...] = option(
        (), "MODEL=POLICY: the published model that a policy is, to stand in one line with it"
    )
    scripted_judges: bool = option(False, "let scripted judges score models; the result carries a warning")
    family: tuple[str, ...] = option(
        (), "NAME=FAMILY: family of a model, beside the well-known ones; a judge of a player's family is named"
    )
    language: str = option("en", "language of the games, en or zh")
    seed: int = option(11, "root seed")
    workers: int = option(0, "worker processes for scripted matches; 0 for one a core")
    run: str = option("", "directory of what was played before: compute the row from it and play nothing")
    cache: str = option("", "directory in which replies of models are kept and looked for first")
    offline: bool = option(False, "ask no model: every reply comes from the cache")
    out: str = option("", "directory for results and runs (default: results/PAPER)")
    json: bool = option(False, "print JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")

    def __post_init__(self) -> None:
        self.published_as()
        self.families()
        self.session()
        check_choice("language", self.language, LANGUAGES)

    def session(self) -> Session:
        """Returns the session settings of the runs; every row plays as many matches as its paper.

        Raises:
            OptionError: if there is no cache offline.
        """
        return Session(cache=Path(self.cache) if self.cache else None, offline=self.offline, keep_going=True)

    def published_as(self) -> dict[str, str]:
        """Returns the policy of each published model named with ``same``.

        Raises:
            OptionError: if an entry has another form.
        """
        return parse_pairs(self.same, "same", "MODEL=POLICY")

    def models(self) -> list[str]:
        """Returns the language models among the policies named."""
        return [spec for policy in self.policy if is_model(spec := policy.partition("@")[0])]

    def families(self) -> dict[str, str]:
        """Returns the family of each model named with ``family``.

        Raises:
            OptionError: if an entry has another form.
        """
        return parse_pairs(self.family, "family", "NAME=FAMILY")


@dataclass(frozen=True)
class Result:
    """The result of a row.

    Attributes:
        tables: its tables.
        figures: its figures by name.
        notes: notes on the whole result, e.g. on excluded games.
        files: further files by name, e.g. transcripts.
        sheets: annotation sheets by name; an existing file is not overwritten.
    """

    tables: Sequence[Table]
    figures: Mapping[str, "Figure"] = field(default_factory=dict)
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    sheets: Mapping[str, str] = field(default_factory=dict)


AnyOptions = TypeVar("AnyOptions", bound=RowOptions)


@dataclass(frozen=True)
class Preparation(Generic[AnyOptions]):
    """Jobs asked before a row, as input to its plan.

    Attributes:
        ask: returns the jobs; may return none.
        take: returns the options to plan the row with, from the answers by name of the job and the options given.
    """

    ask: Callable[[AnyOptions], Sequence[Job[Any]]]
    take: Callable[[Mapping[str, Asked[Any]], AnyOptions], AnyOptions]


UNPREPARED: Preparation[Any] = Preparation(lambda options: (), lambda asked, options: options)


@dataclass(frozen=True, kw_only=True)
class Row(Generic[AnyOptions]):
    """A row.

    Attributes:
        title: the content of the row in one sentence.
        source: paper, section, table or figure.
        options: the class of its options.
        measure: returns the result of the played runs and of the answers; follow-up runs can be missing, and jobs after runs.
        precision: returns the number of cases and the expected width of the intervals for the options.
        shows: conclusions that the row supports, in plain words.
        does_not_show: conclusions that it does not support.
        plan: returns the runs by a short name; by default none.
        ask: returns the jobs asked after the runs; by default none. Without runs they are checked before anything is asked.
        any_manner: whether it can be computed from any run of its games, with any options and any pairings.
        follow_up: returns further runs by a short name, planned from the played ones; by default none.
        preparation: jobs asked first; none by default.
        needs: name of a required option, empty for none; ``all`` leaves such a row out.
    """

    title: str
    source: str
    options: type[AnyOptions]
    measure: Callable[["Played", AnyOptions], Result]
    precision: Callable[[AnyOptions], str]
    shows: str
    does_not_show: str
    plan: Callable[[AnyOptions], Mapping[str, RunConfig]] = lambda options: {}
    ask: Callable[[Mapping[str, "PlayedRun"], AnyOptions], Sequence[Job[Any]]] = lambda runs, options: ()
    any_manner: bool = False
    follow_up: Callable[[Mapping[str, "PlayedRun"], AnyOptions], Mapping[str, RunConfig]] = lambda runs, options: {}
    preparation: Preparation[AnyOptions] = UNPREPARED
    needs: str = ""


AnyRow = Row[Any]
