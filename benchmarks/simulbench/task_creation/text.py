"""Prompts of the creator, and the parser of its replies."""

from benchmarks.simulbench.task_creation.game import Creation, CreationView, Proposals
from benchmarks.simulbench.task_creation.proposals import Draft, Proposal, read_proposals, write_proposals
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote

MAX_REFUSED = 200
"""Maximum characters shown of a refused description."""


class CreationCodec(Codec[Proposals, CreationView]):
    """Texts and grammar of the creator.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._prompts = Prompts("benchmarks.simulbench.task_creation", language)
        self._ends = ending_texts(language)

    def rules(self, agent: str) -> str:
        """Returns the task."""
        return self._prompts.render("rules")

    def observation(self, view: CreationView) -> str:
        """Returns the present request, the examples, the accepted proposals, and the refused ones with reasons."""
        render = self._prompts.render
        if not view.to_move:
            return render("wait")
        parts = [render(f"type_{view.type}"), render("attributes")]
        if view.examples:
            shown = [Proposal(task.act, task.task_description, task.request_type) for task in view.examples]
            parts.append(f"{render('examples')}\n{quote(write_proposals(shown))}")
        if view.accepted:
            names = "\n".join(quote(each.act) for each in view.accepted)
            parts.append(render("kept", number=len(view.accepted), total=view.total, names=names))
        refused = [draft for draft in view.last if draft.refused]
        if refused:
            parts.append("\n".join([render("refused"), *map(self._refused, refused)]))
        return "\n\n".join([*parts, render("create", wanted=view.wanted)])

    def _refused(self, draft: Draft) -> str:
        assert draft.refused is not None
        act, description, _ = draft.proposal
        cut = description if len(description) <= MAX_REFUSED else f"{description[:MAX_REFUSED]} ..."
        reason = self._prompts.render(f"reason_{draft.refused.name}", **draft.refused.fields)
        return f"{quote(f'{act}: {cut}')}\n{self._prompts.render('because', reason=reason)}"

    def ending(self, view: CreationView, ending: Ending) -> str:
        """Returns the cause of the end of the match, with the reward."""
        cause = self._prompts.render("over", number=len(view.accepted), total=view.total)
        if ending.offenders:
            cause = self._ends.forfeit(view.agent, ending.offenders)
        return self._ends.over(cause, self._ends.received(ending.reward))

    def read(self, reply: str, view: CreationView) -> Proposals:
        """Reads objects with a name, a description and a request type.

        Raises:
            ParseError: if there are no such objects.
        """
        proposals = read_proposals(reply)
        if not proposals:
            raise ParseError(Failure.UNPARSABLE, "no_tasks")
        return proposals

    def example(self, view: CreationView) -> str:
        """Returns the form of a reply."""
        return '[{"name": "...", "description": "...", "request_type": "..."}]'

    def format(self, action: Proposals, view: CreationView) -> str:
        """Writes tasks as a JSON list."""
        return write_proposals(action)

    def picture(self, game: Creation) -> str:
        """Lists the tasks accepted up to now."""
        lines = [f"{each.act}\n{quote(each.task_description)}" for each in game.accepted]
        return "\n".join([f"{game.type}: {len(lines)} / {game.count}", *lines])
