"""What of the pages ``test_blocks`` does not run, and why: whatever is in no table here is run."""

COVERED = {
    "docs/adding_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/packaging_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/training_data.md": "tests/docs/test_training_data.py",
    "docs/clients.md": "benchmarks/clients/page.py",
}
"""Pages whose blocks have a test of their own, each with the file that reads the page; of the clients, ``.ci/run`` runs each."""

NOT_RUN = {
    r"base_url=|\bopenai:|-local\b": "asks a model behind a server",
    r"\bhf:|HFPolicy": "loads a model",
    r"=human\b": "asks a person",
    r": llmarena (serve|serve-policy) ": "serves until it is stopped",
    r"\b(study|run)\.toml\b": "a run file of the reader's",
    r"quickstart.md: llmarena run runs/tournament.toml": "its run file asks a model behind a server",
    r"training.md: from trl ": "tests/integrations/test_trl.py",
    r"training.md: import asyncio\n\nimport verifiers": "tests/integrations/test_verifiers.py",
    r"training.md: (import uvicorn|from agents.integrations.openenv)": "tests/integrations/test_openenv.py",
    r"training.md: import textarena": "tests/integrations/test_textarena.py",
    r"README.md: llmarena import ": "a log of the reader's",
    r"comparing.md: .*\b(battles\.csv|runs/imported)": "a log of the reader's",
    r"judges.md: ": "a run and files of the reader's",
    r" ID$": "the reader's choice of a match",
    r"--parquet": "needs the extra of the same name; tests/integrations",
    r"llmarena run benchmarks/\w+/demo\.toml": "takes a minute; the tests of each paper play it",
    r"llmarena demo": "takes a minute; .ci/run plays it",
}
"""Regular expressions of what is not run, searched in ``PAGE: COMMAND`` and ``PAGE: BLOCK OF PYTHON``, with the reason.

It is parsed, as far as that goes, and so is every ``python -m benchmarks...``: those take minutes, and ``.ci/run`` plays their
smallest size.
"""

UNKNOWN = {r"^transformers ": "a program of another package"}
"""Regular expressions of commands that cannot be checked at all, with the reason."""

TEXTS: dict[tuple[str, str], str] = {
    ("docs/design.md", "llmarena_envs/            the environments; imports pettingzoo, gymnasium, numpy (and treys in holdem), never agents or rating"): "a tree of files",
    ("docs/models.md", "The run goes on with: llmarena resume runs/paid"): "what ends a run whose budget is used up",
    ("docs/ratings.md", "connect_four_v0"): "the leaderboard of the demo; tests/docs/test_ratings.py",
    ("docs/schedules.md", "gain = w / (1 + w v) · q,     q = M_ii + M_jj - 2 M_ij,     M = S L S"): "a formula",
}
"""Blocks of text that no command of the page prints, by page and first line, with what they are."""
