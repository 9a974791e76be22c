"""The recorded replies of a job: JSON lines, the settings first, then each reply as it arrived.

Files are not trusted: their lines are parsed and compared, and no module or file named in them is imported or opened.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field, ValidationError

from agents.policy import Reply
from agents.private_file import create_private
from agents.records import encodable
from benchmarks.experiments.asking import Prompt
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from rating.config.run_file import check_policy_names, explanation
from rating.config.run_tables import PolicyConfig, Table
from rating.errors import RunError

MAX_LINE = 64 << 20
"""Maximum length of a line in bytes."""

_MAX_REASON = 300

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Tokens = Annotated[int, Field(ge=0)]


class Settings(Table):
    """The first line: the settings of the replies.

    Attributes:
        job: name of the job.
        seed: root seed.
        policies: the policies asked.
        cases: digest of the cases.
    """

    job: str
    seed: int
    policies: list[PolicyConfig]
    cases: Digest


class RecordedReply(Table):
    """A reply.

    Attributes:
        policy: name of the policy.
        case: name of the case.
        call: number of the request in the case, from 1.
        prompt: digest of the request.
        text: the reply.
        kind: kind of the reply as reported by the provider.
        prompt_tokens: tokens read; ``None`` if unknown.
        completion_tokens: tokens written; ``None`` if unknown.
    """

    policy: str
    case: str
    call: Annotated[int, Field(ge=1)]
    prompt: Digest
    text: str
    kind: Annotated[str, Field(pattern="^(OK|TRUNCATED|EMPTY|REFUSAL)$")]
    prompt_tokens: Tokens | None
    completion_tokens: Tokens | None

    @property
    def reply(self) -> Reply:
        """The reply as a policy gave it."""
        return Reply(self.text, Failure[self.kind], self.prompt_tokens, self.completion_tokens)


class ReplyLog:
    """The replies of a job, in memory and in a file, which is created with the first reply.

    Args:
        path: the file.
        settings: its first line.

    Attributes:
        path: the file.
        settings: its first line.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self._replies: dict[tuple[str, str, int], RecordedReply] = {}
        self._size = 0
        self._file: BinaryIO | None = None

    @classmethod
    def read(cls, path: Path) -> "ReplyLog":
        """Reads a file. A last line without an end, left by a killed process, is ignored.

        Raises:
            RunError: if the file is missing or damaged.
        """
        log: ReplyLog | None = None
        for number, line in enumerate(_lines(path), start=1):
            try:
                if log is None:
                    log = cls(path, Settings.model_validate_json(line))
                    check_policy_names(log.settings.policies)
                else:
                    log._add(RecordedReply.model_validate_json(line))
            except (OptionError, ValidationError) as error:
                message = explanation(error) if isinstance(error, ValidationError) else str(error)
                raise RunError(
                    f"{path}, line {number}: damaged: {message[:_MAX_REASON]}; restore the file, or choose another directory"
                    " with --out"
                ) from error
            log._size += len(line)
        if log is None:
            raise RunError(f"{path}: expected recorded replies, but the file is empty; remove it")
        return log

    @classmethod
    def resume(cls, path: Path, settings: Settings) -> "ReplyLog":
        """Reads a file to add replies, if it exists.

        Raises:
            RunError: if it is damaged, or holds replies to other settings.
        """
        log = cls.read(path) if path.exists() else cls(path, settings)
        if log.settings != settings:
            raise RunError(
                f"{path}: expected replies to the same settings, but the recorded ones differ; choose another directory with"
                " --out, or compute the row from it with --run"
            )
        return log

    def find(self, policy: str, case: str, call: int, prompt: Prompt) -> Reply | None:
        """Returns the recorded reply to a request, or ``None``.

        Raises:
            RunError: if the recorded reply answers another request.
        """
        found = self._replies.get((policy, case, call))
        if found is None:
            return None
        if found.prompt != prompt.digest:
            raise RunError(
                f"{self.path}: call {call} of {policy} in {case} was recorded for another request; choose another directory"
                " with --out"
            )
        return found.reply

    def append(self, policy: str, case: str, call: int, prompt: Prompt, reply: Reply) -> Reply:
        """Records a reply, and returns it as recorded.

        Raises:
            ValueError: if it holds values that cannot be recorded.
            OSError: if it cannot be written.
        """
        line = RecordedReply(
            policy=policy,
            case=case,
            call=call,
            prompt=prompt.digest,
            text=encodable(reply.text),
            kind=reply.kind.name,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )
        self._write(line)
        self._add(line)
        return line.reply

    def texts(self, policy: str) -> Iterator[str]:
        """Yields the replies of a policy."""
        for line in self._replies.values():
            if line.policy == policy:
                yield line.text

    def __len__(self) -> int:
        """Returns the number of replies."""
        return len(self._replies)

    @property
    def digest(self) -> str:
        """SHA-256 of the sorted lines, independent of the order of arrival."""
        lines = sorted(_line(each) for each in (self.settings, *self._replies.values()))
        return hashlib.sha256(b"".join(lines)).hexdigest()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _add(self, line: RecordedReply) -> None:
        key = line.policy, line.case, line.call
        if key in self._replies:
            raise OptionError(f"call {line.call} of {line.policy} in {line.case} occurs twice")
        self._replies[key] = line

    def _write(self, line: RecordedReply) -> None:
        data = _line(line)
        if self._file is None:
            if not self._size:
                create_private(self.path)
                data = _line(self.settings) + data
            self._file = self.path.open("r+b", buffering=0)
            self._file.truncate(self._size)  # without a last line that has no end
            self._file.seek(self._size)
        self._file.write(data)


def _line(line: Table) -> bytes:
    return line.model_dump_json(exclude_defaults=True).encode() + b"\n"


def _lines(path: Path) -> Iterator[bytes]:
    """Yields the complete lines of a file."""
    try:
        with path.open("rb") as file:
            while (line := file.readline(MAX_LINE)).endswith(b"\n"):
                yield line
            if len(line) == MAX_LINE:
                raise RunError(f"{path}: expected lines of at most {MAX_LINE >> 20} MiB")
    except OSError as error:
        raise RunError(f"{path}: expected a file of recorded replies: {error.strerror}") from error
