"""TemplateCodec: a complete codec for games with enumerated actions, made of a few templates."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.game import Game, ViewType
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import Grammar, find


class TemplateCodec(Codec[int, ViewType]):
    """Texts from templates, and replies such as ``take: 2``; for games whose actions are enumerated and named.

    The templates are the following texts. All but ``rules`` can use the fields of the view as placeholders.

    * ``rules``: the system prompt; placeholders ``{agent}`` and ``rules_fields``.
    * ``observation``: the state of the match.
    * ``instruction``: shown below it to an agent that is to move; also ``{legal}``, the names of the legal actions.
    * ``wait``: shown below it to an agent that is not to move.
    * ``action``: the form of a reply, a label before ``{action}``: ``take: {action}``.
    * ``reason_<name>``: why ``why_illegal`` refuses an action, if it returns ``Reason(name)``.

    Subclasses can override any method, e.g. ``observation`` to write lists, or ``read`` to accept other forms.

    Args:
        prompts: the texts by name, or ``Prompts`` loaded from files.
        action_names: name of each action, in the order of the actions.
        where: file of the texts for error messages, usually ``__file__``.
        rules_fields: values of further placeholders of the rules, e.g. options of the game.

    Raises:
        PromptError: if a text is missing or not a valid template.
    """

    def __init__(
        self, prompts: Mapping[str, str] | Prompts, action_names: Sequence[str], where: str = "", **rules_fields: object
    ) -> None:
        self._prompts = prompts if isinstance(prompts, Prompts) else Prompts.from_texts(prompts, where)
        for name in ("rules", "observation", "instruction", "wait", "action"):
            self._prompts[name]  # a missing text is an error now, not in the middle of a match
        self.language = self._prompts.language
        self.action_names = tuple(action_names)
        self._rules_fields = rules_fields
        self._actions = {name.lower(): action for action, name in enumerate(self.action_names)}
        longest_first = sorted(self.action_names, key=len, reverse=True)
        self._name = re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?!\w|[.,]\d)", re.IGNORECASE)
        label = self._prompts["action"].source.partition(":")[0].strip()
        self.grammar = Grammar(self._read_name, nouns=re.escape(label))

    def _read_name(self, text: str, labelled: bool) -> tuple[int, int] | None:
        """Parses the name of an action at the beginning of a text."""
        match = self._name.match(text)
        return (self._actions[match[0].lower()], match.end()) if match else None

    def _fields(self, view: ViewType) -> dict[str, Any]:
        """Returns the fields of a view, with the legal actions by name."""
        fields: dict[str, Any] = cast(Any, view)._asdict()
        return {**fields, "legal": ", ".join(self.action_names[action] for action in view.legal)}

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._prompts.render("rules", agent=agent, **self._rules_fields)

    def observation(self, view: ViewType) -> str:
        """Returns the state, and the instruction or the request to wait."""
        fields = self._fields(view)
        names = ("observation", "instruction" if view.to_move else "wait")
        return "\n".join(self._prompts.render(name, **fields) for name in names)

    def read(self, reply: str, view: ViewType) -> int:
        """Parses the label with the name of an action, or the name alone on a line."""
        return find(reply, self.grammar, view.agent).value

    def format(self, action: int, view: ViewType) -> str:
        """Writes the label with the name of the action."""
        return self._prompts.render("action", action=self.action_names[action])

    def picture(self, game: Game[int, ViewType]) -> str:
        """Returns the text ``observation`` of each agent; once if all are the same."""
        texts = {agent: self._prompts.render("observation", **self._fields(game.view(agent))) for agent in game.agents}
        if len(set(texts.values())) == 1:
            return texts[game.agents[0]]
        return "\n".join(f"{agent}: {text}" for agent, text in texts.items())
