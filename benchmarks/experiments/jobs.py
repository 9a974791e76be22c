"""Jobs ask policies for data, many cases in parallel. Replies are recorded; a resumed job asks only for missing ones."""

import asyncio
import itertools
import logging
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

from rich.console import Console
from rich.progress import Progress

from agents.errors import ProviderError
from agents.feedback import restate_request
from agents.models import ModelService
from agents.models.preflight import check_models
from agents.play import Streams
from agents.player import Player, close_players
from agents.policy import Reply
from agents.registry import Factory, create_policy
from benchmarks.experiments.asking import Answer, AnyCase, Prompt, ask_in_batches, digest_of
from benchmarks.experiments.reply_log import ReplyLog, Settings
from llmarena_envs.core.options import OptionError
from rating.cli.process import Interruptions
from rating.config.run_file import DEADLINE, check_policy_names
from rating.config.run_tables import PolicyConfig
from rating.errors import RunError
from rating.play.lock import Lock
from rating.play.players import Checked
from rating.play.session import ONE_GO, Session
from rating.schedules.batches import deal_seed
from rating.store.environments import admit

CONCURRENCY = 64
"""Maximum number of cases asked at once."""

MAX_FAILURES = 20
"""Provider failures after which a policy is suspended for the session."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job(Generic[AnyCase]):
    """Every policy is asked in every case.

    Attributes:
        name: name of the job, and of the file of its replies.
        agent: agent ID of the policies.
        policies: the policies.
        cases: the cases.
        seed: root seed.
        scripted: scripted policies by name.
        stream: name of the random streams; by default the name of the job.
    """

    name: str
    agent: str
    policies: Sequence[PolicyConfig]
    cases: Sequence[AnyCase]
    seed: int
    scripted: Mapping[str, Factory] = field(default_factory=dict)
    stream: str = ""

    @property
    def settings(self) -> Settings:
        """Settings of the replies."""
        return Settings(job=self.name, seed=self.seed, policies=list(self.policies), cases=digest_of(self.cases))

    def player(self, policy: PolicyConfig, service: ModelService) -> Player:
        """Makes a policy.

        Raises:
            OptionError: if it cannot be made, or reads neither texts nor requests.
        """
        made = create_policy(policy.spec, self.scripted, f"the job {self.name}", policy.options, service=service)
        player = Player(made)
        if player.reads not in ("text", "view"):
            raise OptionError(f"policy {policy.spec!r}: expected one that reads 'text' or 'view', got {player.reads!r}")
        return player

    def check(self, session: Session = ONE_GO) -> None:
        """Makes every policy once.

        Raises:
            OptionError: if a name or a policy is not valid.
        """
        check_policy_names(self.policies)
        admit([], [policy.spec for policy in self.policies])
        for policy in self.policies:
            self.player(policy, ModelService(offline=session.offline))


@dataclass(frozen=True)
class Asked(Generic[AnyCase]):
    """The answers of a job.

    Attributes:
        path: the file of the replies.
        answers: the complete answers by name of the policy, in the order of the cases.
        missing: policy and case of each missing answer.
        replies: number of replies.
        digest: SHA-256 of the replies.
    """

    path: Path
    answers: Mapping[str, Sequence[Answer[AnyCase]]]
    missing: Sequence[tuple[str, str]]
    replies: int
    digest: str

    def summary(self) -> dict[str, Any]:
        """Returns the job's entry in the report of a row, as JSON values."""
        answers = [answer for own in self.answers.values() for answer in own]
        return {
            "replies": self.replies,
            "missing": len(self.missing),
            "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
            "completion_tokens": sum(answer.completion_tokens for answer in answers),
            "digest": self.digest,
        }

    def notes(self) -> list[str]:
        """Returns a note for each missing answer."""
        return [f"{policy}: {case} is not answered and left out" for policy, case in self.missing]


def case_streams(seed: int, stream: str, number: int) -> Streams:
    """Returns the random streams of a case, the same for every policy."""
    return Streams(deal_seed(seed, stream, number))


def path_of(directory: Path, job: Job[Any]) -> Path:
    """Returns the file with the replies of a job."""
    return directory / f"{job.name}.jsonl"


def check_job(directory: Path, job: Job[Any], session: Session = ONE_GO) -> None:
    """Checks that a job can be asked or resumed.

    Raises:
        OptionError: if a policy is not usable.
        RunError: if the directory holds replies to other settings.
    """
    job.check(session)
    ReplyLog.resume(path_of(directory, job), job.settings)


def ask_job(
    directory: Path, job: Job[AnyCase], interruptions: Interruptions, session: Session = ONE_GO
) -> Asked[AnyCase]:
    """Asks for missing answers, and returns all; answers are missing if a provider failed.

    Raises:
        ProviderError: if a model cannot be asked; nothing was asked.
        RunError: if another process asks, or the directory holds replies to other settings.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with Lock(directory), closing(ReplyLog.resume(path_of(directory, job), job.settings)) as log:
        if missing := _asked(job, log).missing:
            interruptions.run(lambda: _Session(job, log, session).run(missing))
        return _asked(job, log)


def read_job(directory: Path, job: Job[AnyCase]) -> Asked[AnyCase]:
    """Returns the answers of a recorded job, of all policies asked in it.

    Raises:
        OptionError: if something else was asked.
        RunError: if there are no replies, or the file is damaged.
    """
    log = ReplyLog.read(path_of(directory, job))
    if (log.settings.job, log.settings.cases) != (job.name, job.settings.cases):
        raise OptionError(
            f"{log.path}: expected replies to what these options ask for, got others; name the options with which it was asked"
        )
    return _asked(replace(job, policies=log.settings.policies), log)


def _asked(job: Job[AnyCase], log: ReplyLog) -> Asked[AnyCase]:
    """Returns the recorded answers.

    Raises:
        RunError: if a recorded reply answers no request of the job.
    """
    answers: dict[str, list[Answer[AnyCase]]] = {}
    missing, read = [], 0
    for policy in job.policies:
        for case in job.cases:
            answer, calls = _recorded(job, log, policy.title, case)
            read += calls
            if answer is None:
                missing.append((policy.title, case.name))
            else:
                answers.setdefault(policy.title, []).append(answer)
    if read != len(log):
        raise RunError(
            f"{log.path}: {len(log) - read} replies answer no request of the job; restore the file, or choose another directory"
            " with --out"
        )
    return Asked(log.path, answers, missing, len(log), log.digest)


def _recorded(job: Job[AnyCase], log: ReplyLog, policy: str, case: AnyCase) -> tuple[Answer[AnyCase] | None, int]:
    """Returns the answer in the log, ``None`` if it is incomplete, and the number of its replies."""
    steps = ask_in_batches(case, job.agent)
    prompt = next(steps)
    for call in itertools.count(1):
        reply = log.find(policy, case.name, call, prompt)
        if reply is None:
            return None, call - 1
        try:
            prompt = steps.send(reply)
        except StopIteration as done:
            return done.value, call
    raise AssertionError


class _Session(Generic[AnyCase]):
    """Asks for the missing replies of a log.

    Args:
        job: the job.
        log: its log, open for writing.
        session: cache, and whether only the cache is used.
    """

    def __init__(self, job: Job[AnyCase], log: ReplyLog, session: Session) -> None:
        self._job, self._log = job, log
        self._offline = session.offline
        self._cache = session.open_cache()
        self._service = ModelService(cache=self._cache, offline=session.offline)
        self._idle: dict[str, list[Player]] = defaultdict(list)
        self._failures = Counter[str]()

    async def run(self, missing: Sequence[tuple[str, str]]) -> None:
        """Asks for the missing answers, at most ``CONCURRENCY`` at once; one after the other if a person is asked.

        Raises:
            ProviderError: if a model cannot be asked; nothing was asked.
        """
        numbers = {case.name: number for number, case in enumerate(self._job.cases)}
        policies = {policy.title: policy for policy in self._job.policies}
        left = [(policies[title], numbers[name]) for title, name in sorted(missing, key=lambda each: numbers[each[1]])]
        try:
            await self._check_models(list({policy.title: policy for policy, _ in left}.values()))
            people = any(player.is_person for players in self._idle.values() for player in players)
            with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
                bar = progress.add_task(self._job.name, total=len(left))
                queue = iter(left)
                async with asyncio.TaskGroup() as group:
                    for _ in range(1 if people else CONCURRENCY):
                        group.create_task(self._work(queue, lambda: progress.advance(bar)))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            await close_players(itertools.chain(*self._idle.values()))
            await self._service.close()
            if self._cache is not None:
                self._cache.close()

    async def _check_models(self, policies: Sequence[PolicyConfig]) -> None:
        """Makes the policies, and asks every model once unless offline."""
        for policy in policies:
            self._idle[policy.title].append(self._job.player(policy, self._service))
        models = {
            title: players[0].policy for title, players in self._idle.items() if hasattr(players[0].policy, "preflight")
        }
        if self._offline or not models:
            return
        errors = await check_models(models, dict.fromkeys(models, self._job.cases[0].first_prompt().observation()))
        if errors and (not len(self._log) or len(errors) == len(models)):
            raise ProviderError(f"nothing was asked, since {Checked(len(models), errors)}")
        for title, error in errors.items():  # a resumed job continues with the others
            self._suspend(title, str(error))

    async def _work(self, queue: Iterator[tuple[PolicyConfig, int]], done: Callable[[], object]) -> None:
        for policy, number in queue:
            if self._failures[policy.title] < MAX_FAILURES:
                await self._ask(policy, number)
            done()

    async def _ask(self, policy: PolicyConfig, number: int) -> None:
        """Asks a policy in one case until the answer is complete or the provider fails."""
        case, title = self._job.cases[number], policy.title
        idle = self._idle[title]
        player = idle.pop() if idle else self._job.player(policy, self._service)
        try:
            player.reset(
                self._job.agent, case_streams(self._job.seed, self._job.stream or self._job.name, number).seat(0)
            )
            steps = ask_in_batches(case, self._job.agent)
            prompt = next(steps)
            for call in itertools.count(1):
                observation = _observation(player, prompt, case.language)
                reply = self._log.find(title, case.name, call, prompt)
                if reply is not None:
                    await player.recall(observation, reply.text, DEADLINE)
                else:
                    answer = await player.ask(observation, DEADLINE)
                    try:
                        given = answer if isinstance(answer, Reply) else Reply(answer)
                        reply = self._log.append(title, case.name, call, prompt, given)
                    except ValueError as error:
                        raise ProviderError(f"the policy's reply cannot be recorded: {error}") from error
                await asyncio.sleep(0)  # policies that compute would let no interruption through
                prompt = steps.send(reply)
        except StopIteration:
            pass
        except ProviderError as error:
            self._failures[title] += 1
            _log.warning("%s, %s: %s", title, case.name, next(iter(str(error).splitlines()), ""))
            if error.fatal or self._failures[title] == MAX_FAILURES:
                self._suspend(title, str(error))
        if not player.is_stuck:
            idle.append(player)

    def _suspend(self, title: str, reason: str) -> None:
        self._failures[title] = MAX_FAILURES
        _log.error("%s is suspended, the others continue: %s", title, reason)


def _observation(player: Player, prompt: Prompt, language: str) -> Any:
    """Returns the request as the player reads it; see ``agents.policy``."""
    if player.reads == "view":
        return prompt.request
    observation = prompt.observation()
    if player.wants_legal:
        observation["legal"] = []
    if player.wants_update:
        observation["update"] = observation["text"]
    if player.wants_form:
        observation["form"] = restate_request(language)
    return observation
