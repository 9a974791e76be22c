"""Agreement and changes of the judges of a tournament, from their verdicts."""

from collections.abc import Mapping

from benchmarks.auto_arena.pool import DEBATE
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import Cell
from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.judgements import Judgement, declared_verdicts, judgements_of
from rating.judges import JudgeStudy, StageAgreement, WithMajority, study
from rating.stats.agreement import PairMeans
from rating.stats.estimates import Estimate

BEFORE, AFTER = "before discussion", "after discussion"


def read_judgements(run: PlayedRun) -> list[Judgement]:
    """Returns every verdict of a run of debates.

    Raises:
        RunError: if there are no verdicts.
    """
    verdicts = declared_verdicts(DEBATE)
    found = judgements_of(run.outcomes(DEBATE), verdicts) if verdicts else []
    if all(one.final is None for one in found):
        raise RunError(f"{run.directory}: expected debates with verdicts, but no judge has given one")
    return found


def read_stages(run: PlayedRun) -> tuple[JudgeStudy, dict[str, StageAgreement]]:
    """Returns the judge study of a run, and the judges' agreement before and after discussion.

    Raises:
        OptionError: if the judges had no discussion.
        RunError: if there are no verdicts.
    """
    if not run.config.options(DEBATE).get("discussion", True):
        raise OptionError(f"{run.directory}: {DEBATE}: expected a run with discussion = True, got False")
    found = study(read_judgements(run))
    if found.before is None:
        raise RunError(f"{run.directory}: expected verdicts before the discussion, but there are none")
    return found, {BEFORE: found.before, AFTER: found.after}


def mean_kappa(means: PairMeans | None) -> Estimate | None:
    """Returns the mean of Cohen's kappa with the number of pairs with a defined kappa."""
    return means.kappa._replace(n=means.defined) if means and means.kappa else None


def majority_cells(stages: Mapping[str, StageAgreement], judge: str) -> list[Cell]:
    """Returns a judge's kappa with the majority of all judges, by stage, then with the majority of the others."""
    found: list[WithMajority | None] = [stage.majority.get(judge) for stage in stages.values()]
    return [*(both and both.all.kappa for both in found), *(both and both.others.kappa for both in found)]
