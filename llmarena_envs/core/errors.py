"""The tree of exceptions, which begins here: whatever the suite raises on purpose is an ``ArenaError``.

* ``ArenaError``

  * ``OptionError`` (``llmarena_envs.core.options``): a name or an option that is not valid.
  * ``PromptError`` (``llmarena_envs.core.prompts``): a prompt file that does not fit its game.
  * ``InvalidReply`` (``llmarena_envs.core.failures``): a reply that is no legal move; it never leaves the harness.
  * ``PolicyError`` (``agents.errors``): a policy gave no reply.

    * ``ProviderError``: for no fault of the player; ``TransientError`` if another attempt may succeed.
    * ``Quit``: a person left.

  * ``MatchError`` (``agents.errors``): a match that cannot go on.

    * ``EnvironmentBug``: the environment broke a promise.
    * ``ReplayMismatch``: a recorded match, played again, did not go as recorded.

  * ``HarnessError`` (``rating.errors``): a run that cannot go on.

    * ``RunError``: a run directory, run file or database that cannot be used.
    * ``BudgetExceeded``: a limit that the run file sets was reached; ``ErrorBudgetExceeded`` for failures.
"""


class ArenaError(Exception):
    """The root of every exception that is raised on purpose."""
