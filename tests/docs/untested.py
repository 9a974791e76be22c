"""Blocks that ``test_blocks`` does not run, with reasons; all others are run."""

SLOW = (
    "README.md",
    *(f"docs/{name}.md" for name in ("auto_arena", "comparing", "executors", "importing", "own_policy", "performance")),
    *(f"docs/{name}.md" for name in ("ratings", "report", "sandbox", "schedules", "stopping", "tournaments")),
)
"""Pages whose commands take a while; their test is marked ``slow``."""

COVERED = {
    "docs/adding_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/packaging_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/adding_a_rating_method.md": "tests/docs/test_adding_a_rating_method.py",
    "docs/training_data.md": "tests/docs/test_training_data.py",
    "docs/clients.md": "tests/benchmarks/clients/test_command.py",
    "docs/cluster.md": "tests/docs/test_cluster.py",
}
"""Pages whose blocks have a test of their own, each with the file that reads the page; of the clients, ``.ci/run`` runs each."""

NOT_RUN = {
    r"base_url=|\bopenai:|-local\b": "asks a model behind a server; tests/docs/test_servers.py does, of two pages",
    r"\bhf:|HFPolicy": "loads a model",
    r"=human\b|: llmarena play connect_four_v0$": "asks a person",
    r": llmarena serve |: llmarena .* --web\b": "serves until stopped; tests/docs/test_servers.py, tests/browser",
    r"\b(study|run)\.toml\b": "a run file of the reader's",
    r"(quickstart|running).md: llmarena \w+ runs/tournament\b": "its run file asks a model behind a server",
    r"comparing.md: .*\bcheckpoints\b": "its run file loads models",
    r"training.md: from trl ": "tests/integrations/test_trl.py",
    r"training.md: import asyncio\n\nimport verifiers": "tests/integrations/test_verifiers.py",
    r"training.md: (import uvicorn|from agents.integrations.openenv)": "tests/integrations/test_openenv.py",
    r"training.md: import textarena": "tests/integrations/test_textarena.py",
    r"comparing.md: .*\bbattles\.csv": "a log of the reader's",
    r"judges.md: ": "a run and files of the reader's",
    r" ID$": "the reader's choice of a match",
    r"running.md: llmarena (replay|resume) \.": "a run that is damaged; tests/rating/play/test_damaged_runs.py",
    r"--parquet": "needs the extra of the same name; tests/integrations",
    r"llmarena run (benchmarks/\w+/demo\.toml|\S+-demo\b)": "takes a minute; the tests of each paper play it",
    r"^(?!docs/ratings\.md).*: llmarena demo": "takes half a minute; docs/ratings.md and .ci/run play it",
    r"own_policy.md: llmarena run .*--policy mcts": "takes minutes; tests/agents/baselines/test_search.py plays the search",
}
"""Regular expressions of blocks to skip, searched in ``PAGE: COMMAND`` and ``PAGE: BLOCK OF PYTHON``, with the reason.

Skipped blocks are parsed if possible, and so is every ``python -m benchmarks...`` or ``research...``: those take minutes, and the
smallest size of each is run by ``.ci/run`` or ``tests/research``.
"""

UNKNOWN = {
    r"^(ray start|export RAY_)": "needs Ray; tests/integrations/test_ray.py",
    r"^transformers ": "a program of another package",
    r"^sqlite3 ": "a program of SQLite; tests/rating/play/test_damaged_runs.py executes the statements",
    r"^python -m benchmarks\.train_grpo": "needs trl; .ci/libraries runs it",
}
"""Regular expressions of commands that cannot be checked at all, with the reason."""

TEXTS = {
    ("docs/design.md", "llmarena_envs/"): "a tree of files",
    ("docs/design.md", "  Schedule ---"): "a diagram",
    ("docs/schedules.md", "gain ="): "a formula",
    ("docs/schedules.md", "share ="): "a formula",
    ("docs/first_paid_run.md", "Resume with: llmarena resume runs/paid"): "the end of a run whose budget is used up",
    ("docs/executors.md", "2 workers died"): "an error; tests/rating/play/test_executors.py",
    ("docs/playing.md", "human plays at "): "addresses with secrets; tests/browser",
    ("docs/models.md", "vllm serve "): "another server's command, and the policy behind it",
    ("docs/models.md", "llama-server "): "another server's command, and the policy behind it",
    ("docs/models.md", "python -m sglang.launch_server "): "other servers' commands, and the policies behind them",
    ("docs/models.md", "openai:MODEL\n"): "names of policies",
    ("docs/models.md", "user: "): "a conversation, shortened",
    (
        "docs/deepeval.md",
        "(printf ",
    ): "loads a public set; tests/benchmarks/deepeval/test_public_set.py plays a made one",
    ("docs/models.md", "Human: (the text"): "the form of a prompt",
}
"""Blocks of text that are no output of their page, by page and beginning, with a description."""
