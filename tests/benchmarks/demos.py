"""The demonstration run files of the papers, played."""

import asyncio
from pathlib import Path

import benchmarks
from rating.play import run_directory
from rating.play.runner import Runner


def demo_text(paper):
    """Returns the run file of a paper."""
    return (Path(benchmarks.__file__).parent / paper / "demo.toml").read_text(encoding="utf-8")


def play(directory, text):
    """Plays a run file, and returns the run, its records and its facts."""
    run, store = run_directory.create(directory / "run", text, "run.toml")
    asyncio.run(Runner(run, store).run())
    records, facts = list(store.records()), store.facts()
    store.close()
    return run, records, facts


def ends(estimate):
    """Returns the ends of an interval; the value twice if all results are equal."""
    return (estimate.value, estimate.value) if estimate.low is None else (estimate.low, estimate.high)
