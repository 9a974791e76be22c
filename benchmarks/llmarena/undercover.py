"""Win rates as undercover among a fixed field (LLMArena, arXiv 2402.16499, Table 4).

Every policy is the undercover player of the same number of matches, on all seats alternately, and one fixed policy plays all
other seats, in the paper GPT-3.5-Turbo. The tables also give the rate under random votes: (4/5)(3/4) = 60 %.

Example matches, as in the paper, are written as transcripts: does a player notice from the others' clues that it is the
undercover player?
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.records import Turn
from benchmarks.experiments.field import Case, field_cases, field_opponent
from benchmarks.experiments.markdown import block, inline
from benchmarks.experiments.pictures import estimates, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.proportions import rate_of_counts
from benchmarks.experiments.published import load_published
from benchmarks.experiments.replays import begun
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, beside, percent
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.options import option
from llmarena_envs.core.options import check_int
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, mean_estimate, rate_estimate
from rating.store.environments import make_environment
from rating.store.records import Record

GAME = "undercover_v0"
FIELD = "field"
SURVIVED, FOUND, FORFEITED, OTHER_FORFEITED = "survived", "found", "forfeited", "forfeited by another"
CASES = (SURVIVED, FOUND, FORFEITED)
LONGEST_REPLY = 4000
"""Maximum number of characters shown of a reply."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    opponent: str = option("similarity", "who holds the four other seats: any policy")
    matches: int = option(100, "matches of each policy as undercover", smoke=5)
    cot: bool = option(False, "invite players to reason step by step, which the cases then show")
    cases: int = option(1, "matches that are written out, of each policy and each way in which they ended")
    preset: str = option("llmarena", "treatment of bad replies: llmarena, the paper's, or standard")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the run among the field."""
    check_int("cases", options.cases, 0, 1000)
    game = EnvironmentConfig(
        name=GAME,
        scheme="field",
        opponent=options.opponent,
        options={"language": options.language, **({"cot": True} if options.cot else {})},
    )
    return {
        FIELD: plan_run(options, [game], scripted=SCRIPTED, stop={"matches": options.matches}, preset=options.preset)
    }


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns win rates beside the published ones, the course of the matches, and example matches."""
    run = runs[FIELD]
    cases = field_cases(run, GAME)
    opponent = field_opponent(run, GAME)
    env = make_environment(GAME, run.config.options(GAME)).unwrapped
    lines, rounds = env.references(), env.game.max_rounds
    rates = {policy: win_rate(own) for policy, own in cases.items()}
    return Result(
        [
            win_table(rates, opponent, lines, options.published_as()),
            course_table(cases, opponent, rounds, lines),
        ],
        {
            "wins": estimates(
                {policy: percent(rate) for policy, rate in rates.items()},
                f"wins as undercover among {plain(opponent, 24)}, %, with 95 % interval",
                lines={name: 100 * line for name, line in lines.items()},
            )
        },
        files={"cases.md": cases_text(run, chosen_cases(cases, options.cases), opponent)} if options.cases else {},
    )


def win_rate(cases: Sequence[Case]) -> Estimate | None:
    """Returns the share of wins in the matches without a forfeit of another seat; an own forfeit is a loss."""
    counted = [ending(case) for case in cases if case.is_finished and not case.other_forfeited]
    return rate_estimate(counted.count(SURVIVED), len(counted))


def ending(case: Case) -> str:
    """Returns how a finished match ended for the undercover player."""
    if case.seat.forfeit:
        return FORFEITED
    if case.other_forfeited:
        return OTHER_FORFEITED
    return SURVIVED if case.seat.reward > 0 else FOUND


def win_table(
    rates: Mapping[str, Estimate | None], opponent: str, lines: Mapping[str, float], same: Mapping[str, str]
) -> Table:
    """Returns win rates beside the published ones, as printed and corrected."""
    tables = load_published("benchmarks.llmarena")
    raw, corrected = tables["T4_raw"], tables["T4_raw_corrected"]
    index = raw.columns.index("undercover")
    printed: dict[str, Sequence[Cell]] = {model: [numbers[index]] for model, numbers in raw.rows.items()}
    rows = beside(printed, {policy: [percent(rate)] for policy, rate in rates.items()}, same)
    right: list[Cell] = [corrected.rows[model][index] for model in raw.rows]
    right += [None] * (len(rows) - len(right))
    return Table(
        "wins",
        "win rate as undercover",
        [
            Column("player"),
            Column("wins, %, as printed", PUBLISHED, 0),
            Column("wins, %, corrected", PUBLISHED, 0),
            Column("wins, %", MEASURED, 1),
        ],
        [[*row[:2], value, *row[2:]] for row, value in zip(rows, right, strict=True)],
        [
            f"the four other seats: {opponent} (measured), GPT-3.5-Turbo (published)",
            *(f"{name}: {100 * line:g} %, exactly" for name, line in lines.items()),
            "matches that another player forfeited are left out; an own forfeit is a loss",
            f"published: {raw.source}",
            *(note for note in raw.notes if "undercover" in note),
        ],
    )


def course_table(cases: Mapping[str, Sequence[Case]], opponent: str, rounds: int, lines: Mapping[str, float]) -> Table:
    """Returns the course of the matches of every policy."""
    rows: list[Cells] = []
    for policy, own in cases.items():
        finished = [case for case in own if case.is_finished]
        endings = [ending(case) for case in finished]
        found = [
            int(case.seat.statistics["eliminated_round"]) if how == FOUND else 0
            for case, how in zip(finished, endings, strict=True)
        ]
        rows.append(
            {
                Column("player"): policy,
                **{
                    Column(f"{name}, %", MEASURED, 1): percent(rate_estimate(endings.count(name), len(endings)))
                    for name in (SURVIVED, FORFEITED, OTHER_FORFEITED)
                },
                **{
                    Column(f"found in round {number}, %", MEASURED, 1): percent(
                        rate_estimate(found.count(number), len(found))
                    )
                    for number in range(1, rounds + 1)
                },
                Column("votes received in a match", MEASURED): mean_estimate(
                    [case.seat.statistics["votes_received"] for case in finished],
                    [case.outcome.seed for case in finished],
                    scale=(0, math.inf),
                ),
                Column("blank clues, %", MEASURED, 1): percent(blank_rate(finished)),
                Column("void matches"): len(own) - len(finished),
                **{
                    Column(f"wins against {name}", MEASURED): against(win_rate(own), line)
                    for name, line in lines.items()
                },
            }
        )
    return Table.of(
        "course",
        f"how the matches as undercover among {opponent} went",
        rows,
        ["wins are above or below the line if their 95 % interval is"],
    )


def against(rate: Estimate | None, line: float) -> str | None:
    """Returns the side of a line on which a rate lies; ``None`` if its interval contains the line."""
    if rate is None or rate.low is None or rate.high is None:
        return None
    return "below" if rate.high < line else "above" if rate.low > line else "not told apart"


def blank_rate(cases: Sequence[Case]) -> Estimate | None:
    """Returns the share of blank clues of the undercover player, clustered by match."""
    return rate_of_counts(
        (int(case.seat.statistics["blank_clues"]), (case.seat.turns + 1) // 2, case.outcome.number)  # clues, then votes
        for case in cases
    )


def chosen_cases(cases: Mapping[str, Sequence[Case]], wanted: int) -> dict[int, tuple[Case, str]]:
    """Returns the first matches of each policy with each of the endings in ``CASES``, with the ending, by number."""
    chosen = {}
    for own in cases.values():
        for kind in CASES:
            for case in [case for case in own if case.is_finished and ending(case) == kind][:wanted]:
                chosen[case.outcome.number] = (case, kind)
    return chosen


def cases_text(run: PlayedRun, chosen: Mapping[int, tuple[Case, str]], opponent: str) -> str:
    """Returns the chosen matches as Markdown, policy by policy."""
    texts: dict[str, dict[str, list[str]]] = {case.seat.policy: {} for case, _ in chosen.values()}
    for record in run.records(GAME):
        if record.match.number in chosen:
            case, how = chosen[record.match.number]
            texts[case.seat.policy].setdefault(how, []).append(case_text(record, case, how))
    parts = [
        "# Cases: does a player notice that it is the undercover?",
        "The first matches of each policy that it survived as undercover, in which it was found, and which it forfeited. What"
        f" players said stands in blocks of code, as they said it. The other seats: {inline(opponent)}.",
    ]
    for policy, own in texts.items():
        missing = ", ".join(kind for kind in CASES if kind not in own)
        parts += [f"## {inline(policy)}", *(text for kind in CASES for text in own.get(kind, []))]
        parts += [f"No match of its: {missing}."] if missing else []
    return "\n\n".join(parts) + "\n"


def case_text(record: Record, case: Case, how: str) -> str:
    """Returns one match as Markdown: words, clues and votes, and the rest of the undercover player's replies.

    Raises:
        RunError: if the recorded moves are illegal.
    """
    env = begun(record.match)
    for turn in record.turns:
        if any(env.terminations.values()) or env.agent_selection != turn.agent:
            raise RunError(
                f"match {record.match.id} is damaged: turn {turn.index} of {turn.agent} cannot have been played"
            )
        if turn.action is None:
            break
        env.step(turn.action)
    agent = case.seat.agent
    others = sorted({word for other, word in zip(env.game.agents, env.game.words, strict=True) if other != agent})
    parts = [
        f"### {inline(case.seat.policy)} {how}: match {record.match.number} (`{record.match.id}`)",
        f"{agent} is the undercover, its word is {inline(env.game.word(agent))}; the others' word is"
        f" {', '.join(map(inline, others))}.",
        block(env.codec.picture(env.game)),
    ]
    said = [text for turn in record.turns if turn.agent == agent for text in replies(turn)]
    if said:
        parts += [f"What {agent} replied besides:", *said]
    return "\n\n".join(parts)


def replies(turn: Turn) -> list[str]:
    """Returns the replies of a turn with text beyond the played move, as Markdown."""
    texts = []
    for attempt in turn.attempts:
        reply = attempt.reply.strip()
        if reply != turn.played:
            cut = reply if len(reply) <= LONGEST_REPLY else f"{reply[:LONGEST_REPLY]} ..."
            texts += [f"turn {turn.index}, {attempt.kind.name.lower()}:", block(cut)]
    return texts


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.matches} matches of each policy as undercover: {rate_precision(options.matches)}"


ROW = Row(
    title="win rates as undercover among a fixed field, beside the 60 % of random votes",
    source="LLMArena, Table 4",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how often a player that holds another word than all others, and is not told so, escapes their votes.",
    does_not_show=(
        "It does not show skill by itself: the rate depends on who holds the other seats, so it compares players among one field"
        " only, and not with the published rates, whose field was another. A win is no proof that a player knew its role: look at"
        " the cases."
    ),
)
