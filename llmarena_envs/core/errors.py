"""The tree of the project's own exceptions, which begins here.

* ``ArenaError``

  * ``OptionError`` (``llmarena_envs.core.options``): a name or an option that is not valid.
  * ``PromptError`` (``llmarena_envs.core.prompts``): a prompt file that does not fit its game.
  * ``InvalidReply`` (``llmarena_envs.core.failures``): a reply that is no legal move, with the reason in the player's language;
    ``Refusal`` while the reason is still without words.
  * ``SandboxError`` (``llmarena_envs.sandbox``): a sandbox that cannot isolate on this machine.
  * ``Refused`` (``llmarena_envs.simulation.engines.lines``): what an engine does not carry out; it answers with the reason.
  * ``ConformanceError`` (``llmarena_envs.testing``): an environment that breaks a rule of the conformance suite.
  * ``PolicyError`` (``agents.errors``): a policy gave no reply.

    * ``ProviderError``: for no fault of the player; ``TransientError`` if another attempt may succeed.
    * ``Quit``: a person left.

  * ``MatchError`` (``agents.errors``): a match that cannot go on.

    * ``EnvironmentBug``: the environment broke a promise.
    * ``ReplayMismatch``: a recorded match, played again, did not go as recorded.

  * ``HarnessError`` (``rating.errors``): a run that cannot go on.

    * ``RunError``: a run directory, run file or database that cannot be used; ``StoreError`` if its engine says so.
    * ``BudgetExceeded``: a limit that the run file sets was reached; ``ErrorBudgetExceeded`` for failures.
    * ``IncompleteRun``: a run has ended with void matches or a paused game.
    * ``ClusterError``: a cluster in which nothing can be played for now.
    * ``WorkerDied`` (``rating.running.executors.deaths``): a worker ended in the middle of a match.

A ``ValueError`` or ``TypeError`` without a class of its own is a mistake of the program that calls.
"""


class ArenaError(Exception):
    """The root of the project's own exceptions."""
