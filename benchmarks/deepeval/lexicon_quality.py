"""Accuracy of a list of idioms as a referee: its coverage of genuine idioms, and its false positives.

    python -m benchmarks.deepeval.lexicon_quality
    python -m benchmarks.deepeval.lexicon_quality --idioms my_list.txt --words my_words.csv --out DIR

The test words are in ``lexicon_quality.csv``: 300 idioms and 200 other words of four characters, written down from memory for
this project, without a look at the list, and not used to extend it. Two kinds are idioms, well-known and literary ones; the
others are ordinary phrases, names, idioms with one wrong character, and combined halves of two idioms. The referee of the
source (DeepEval, arXiv 2309.04369) judges by a list too, but the paper gives neither its name nor its accuracy.
"""

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiments.tables import MEASURED, Column, Table, percent, to_csv, to_markdown
from benchmarks.options import option, parse
from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.lexicons import listed_lexicon, shipped_lexicon
from rating.stats.estimates import rate_estimate

WORDS = Path(__file__).with_suffix(".csv")
GENUINE = ("common idiom", "literary idiom")
FALSE = ("phrase", "name", "misspelt idiom", "invented")
HEADER = ["word", "kind"]


@dataclass(frozen=True)
class Options:
    """Options of the script."""

    idioms: str = option("", "list of idioms to test, one a line; by default the shipped one")
    words: str = option("", "words to test it with, a table with the header word,kind; by default ours")
    out: str = option("", "directory for the table as Markdown and CSV")


def read_words(path: Path) -> dict[str, str]:
    """Returns the kind of each word of a table.

    Raises:
        OptionError: naming the line, if it cannot be read.
    """
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"words: cannot read {str(path)!r}: {error}") from error
    kinds: dict[str, str] = {}
    if rows[:1] != [HEADER]:
        raise OptionError(f"words: {path.name}, line 1: expected the header {','.join(HEADER)}, got {rows[:1]!r:.100}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(HEADER) or row[1] not in (*GENUINE, *FALSE) or row[0] in kinds:
            raise OptionError(
                f"words: {path.name}, line {number}: expected a new word and one of {', '.join((*GENUINE, *FALSE))},"
                f" got {row!r:.100}"
            )
        kinds[row[0]] = row[1]
    return kinds


def measure(lexicon: Lexicon, kinds: dict[str, str]) -> Table:
    """Returns the share of words of each kind in a list, with intervals, and names the errors.

    Args:
        lexicon: the list.
        kinds: the kind of each word.
    """
    rows, notes = [], []
    for title, group in [(kind, (kind,)) for kind in (*GENUINE, *FALSE)] + [("idioms", GENUINE), ("others", FALSE)]:
        words = [word for word, kind in kinds.items() if kind in group]
        accepted = [word for word in words if lexicon.find(word) is not None]
        rows.append((title, len(words), len(accepted), percent(rate_estimate(len(accepted), len(words)))))
        wrong = [word for word in words if (word in accepted) != (title in GENUINE)]
        if title in kinds.values() and wrong:
            notes.append(f"{title}, {'not known' if title in GENUINE else 'accepted'}: {' '.join(wrong)}")
    sources = "; ".join(f"{source.name} ({source.description()})" for source in lexicon.sources)
    return Table(
        "lexicon_quality",
        f"What a list of {len(lexicon)} idioms accepts",
        (Column("words"), Column("n"), Column("accepted", MEASURED), Column("% accepted", MEASURED, 1)),
        rows,
        (f"sources: {sources}", "intervals: Wilson, 95 %; the words are no random sample of all there are", *notes),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the script; returns its exit code."""
    options = parse(Options, __doc__, arguments)
    try:
        kinds = read_words(Path(options.words) if options.words else WORDS)
        lexicon = listed_lexicon(options.idioms) if options.idioms else shipped_lexicon()
    except OptionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    table = measure(lexicon, kinds)
    print(to_markdown(table))
    if options.out:
        directory = Path(options.out)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{table.name}.md").write_text(to_markdown(table) + "\n", encoding="utf-8")
        (directory / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
