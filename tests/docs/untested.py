"""Blocks that ``test_blocks`` does not run, with reasons; all others are run."""

SLOW = (
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "auto_arena",
            "blame",
            "comparing",
            "executors",
            "importing",
            "isomorphs",
            "judges_error",
            "own_policy",
        )
    ),
    *(f"docs/{name}.md" for name in ("performance", "ratings", "report", "sandbox", "schedules", "tournaments")),
    "docs/training.md",
)
"""Pages whose commands take a while; their test is marked ``slow``."""

NEEDS = {
    "docs/exploitability.md": ("pyspiel",),
    "docs/other_games.md": ("pyspiel",),
    "docs/training.md": ("torch", "transformers", "pyspiel"),
}
"""Modules that the blocks of a page need and the extra ``test`` does not install."""

COVERED = {
    "docs/adding_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/packaging_an_environment.md": "tests/docs/test_adding_an_environment.py",
    "docs/adding_a_rating_method.md": "tests/docs/test_adding_a_rating_method.py",
    "docs/clients.md": "tests/benchmarks/clients/test_command.py",
    "docs/postgresql.md": "tests/docs/test_postgresql.py",
}
"""Pages whose blocks have a test of their own, each with the file that reads the page; of the clients, ``.ci/run`` runs each."""

NOT_RUN = {
    r"base_url=|\bopenai[:/]|--model\b|-local\b": "asks a model behind a server; tests/docs/test_servers.py",
    r"\bhf:|HFPolicy": "loads a model",
    r"=human\b|: llmarena play (connect4|openspiel/\w+)$|\bllmarena-play\b": "asks a person, or reads the match of one",
    r": llmarena serve |: llmarena .* --web\b": "serves until stopped; tests/browser",
    r"\b(study|run)\.toml\b": "a run file of the reader's",
    r"(quickstart|running).md: llmarena .*\b(first|models)\b": "its run file asks a model behind a server",
    r"comparing.md: .*\bcheckpoints\b": "its run file loads models",
    r"training.md: from trl ": "tests/integrations/test_trl.py",
    r"training_reference.md: from datasets ": "tests/integrations/test_training_data.py",
    r"training.md: import asyncio\nimport random\n\nimport verifiers": "tests/integrations/test_verifiers.py",
    r"training_reference.md: (import uvicorn|from agents.integrations.openenv)": "tests/integrations/test_openenv.py",
    r"training_reference.md: import textarena": "tests/integrations/test_textarena.py",
    r"comparing.md: .*\bbattles\.csv": "a log of the reader's",
    r"judges.md: ": "a run and files of the reader's",
    r"running.md: llmarena (replay|resume) \.": "a run that is damaged; tests/rating/play/test_damaged_runs.py",
    r"--game-set\b": "takes minutes; tests/rating/cli/test_game_sets.py plays the set with quick policies",
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
    r"^python -m (build|twine)\b": ".ci/run builds and checks the archives by uv",
    r"^sqlite3 ": "a program of SQLite; tests/rating/play/test_damaged_runs.py executes the statements",
    r"^python -m benchmarks\.train_grpo": "needs trl; .ci/libraries runs it",
}
"""Regular expressions of commands that cannot be checked at all, with the reason."""

TEXTS = {
    ("docs/design.md", "llmarena_envs/"): "a tree of files",
    ("docs/design.md", "  Schedule ---"): "a diagram",
    ("docs/quickstart.md", "connect_four_v0: 64 of 64"): "the leaderboard of a model behind a server",
    ("docs/executors.md", "2 workers died"): "an error; tests/rating/play/test_executors.py",
    ("docs/running.md", "Forecast: "): "a question on a terminal; tests/rating/cli/test_first_steps.py",
    ("docs/playing.md", "human plays at "): "addresses with secrets; tests/browser",
    ("docs/models.md", "vllm serve "): "another server's command, and the policy behind it",
    ("docs/models.md", "llama-server "): "another server's command, and the policy behind it",
    ("docs/models.md", "python -m sglang.launch_server "): "other servers' commands, and the policies behind them",
    ("docs/models.md", "openai:MODEL\n"): "names of policies",
    ("docs/prompts.md", "user: "): "a conversation, shortened",
    (
        "docs/deepeval.md",
        "(printf ",
    ): "loads a public set; tests/benchmarks/deepeval/test_public_set.py plays a made one",
}
"""Blocks of text that are no output of their page, by page and beginning, with a description."""
