"""The tree of the project's own exceptions.

* ``ArenaError``

  * ``OptionError`` (``llmarena_envs.core.options``): a name or an option that is not valid.
  * ``PromptError`` (``llmarena_envs.core.prompts``): a prompt file that does not fit its game.
  * ``InvalidReply`` (``llmarena_envs.core.failures``): an invalid or illegal reply, with the reason in the player's language;
    ``ParseError`` before the reason is rendered.
  * ``AecError`` (``llmarena_envs.aec.inner``): an AEC environment that breaks PettingZoo's interface.
  * ``SandboxError`` (``llmarena_envs.sandbox``): a sandbox that cannot isolate on this machine.
  * ``ConformanceError`` (``llmarena_envs.testing``): an environment that breaks a rule of the conformance suite.
  * ``PolicyError`` (``agents.errors``): a policy gave no reply.

    * ``ProviderError``: not the player's fault; ``TransientError`` if a retry can succeed.
    * ``Quit``: a person left.

  * ``MatchError`` (``agents.errors``): a match that cannot continue.

    * ``EnvironmentBug``: the environment broke its contract.
    * ``ReplayMismatch``: the replay of a recorded match differs from the record.

  * ``HarnessError`` (``rating.errors``): a run that cannot continue.

    * ``RunError``: a run directory, run file or database that cannot be used; ``StoreError`` if the database engine reports it.
    * ``BudgetExceeded``: a limit that the run file sets was reached; ``ErrorBudgetExceeded`` for failures.
    * ``IncompleteRun``: a run has ended with void matches or a paused game.
    * ``ClusterError``: a cluster that cannot play matches at present.
    * ``WorkerDied`` (``rating.play.executors.executor``): a worker ended during a match.

A plain ``ValueError`` or ``TypeError`` is a mistake of the caller.
"""


class ArenaError(Exception):
    """The root of the project's own exceptions."""
