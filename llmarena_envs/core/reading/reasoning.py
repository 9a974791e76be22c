"""First step: drops a model's reasoning, which states nothing."""

import re

from llmarena_envs.core.reading.markup import narrow

_NAMES = (
    r"think|thinking|thoughts?|reasoning(?:_content)?|reflections?|scratch_?pad|analysis|(?:inner_|internal_)?monologue|"
    r"antthinking|chain_of_thought|cot|deliberation|思考|思考过程|推理|分析"
)
_TAG = re.compile(
    rf"[<◁](?P<bar>\|?)[ ]?(?P<slash>/?)(?=\w)(?P<edge>begin_of_|start_of_|start_|end_of_|end_)?(?:seed:)?(?:{_NAMES})"
    r"(?:[ ][^<>\n]{0,80})?(?P<last>\|?)[>▷]"
    rf"|\[(?P<bracket_slash>/?)(?=\w)(?P<bracket>{_NAMES})\]"
    r"|<\|channel>[ ]?(?:thought|thinking|analysis)|(?P<channel_end><channel\|>)",
    re.IGNORECASE,
)
_SIGNS = ("<", "[", "◁", "＜", "［")

_CHANNEL = re.compile(
    r"<\|channel\|>[ \t]*+(?P<name>[a-z]{1,20}+)(?P<to>[ \t]*+to=[\w.]{1,80}+)?[^<\n]{0,40}+"
    r"(?:<\|constrain\|>[^<\n]{0,20}+)?(?P<message><\|message\|>)?",
    re.IGNORECASE,
)
_END_OF_CHANNEL = re.compile(r"<\|(?:end|return|call|start|channel)\|>", re.IGNORECASE)
# Channels whose control tokens the server removed: "analysisThe user asks ...assistantfinalYes."
_BARE_ANALYSIS = re.compile(r"\s*+analysis(?=[A-Z]|.*assistantfinal)", re.DOTALL)
_BARE_FINAL = "assistantfinal"
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)


def drop_reasoning(reply: str) -> str:
    """Returns a reply without reasoning marked by any common tag or by channels.

    Servers that put the opening tag into the prompt send only the closing one, so everything before a closing tag is
    reasoning. After an unclosed opening tag everything is reasoning: the reply was cut off.
    """
    reply = final_channel(reply)
    reply = _without_bare_channels(reply)
    if not any(sign in reply for sign in _SIGNS):
        return reply
    kept: list[str] = []
    start, inside = 0, False
    for match, closes in _tags(narrow(reply)):
        if closes:
            if not inside:
                kept.clear()
            start, inside = match.end(), False
        elif not inside:
            kept.append(reply[start : match.start()])
            inside = True
    if not start and not inside:
        return reply
    if not inside:
        kept.append(reply[start:])
    return "\n".join([part for part in kept if part.strip()])


def ends_in_reasoning(reply: str) -> bool:
    """Says whether a reply was cut off in its reasoning: it holds nothing else, and another word would be reasoning too."""
    return not drop_reasoning(f"{reply}\nword").strip()


def drop_opening_reasoning(reply: str) -> str:
    """Returns a reply without the reasoning at its beginning; later tags possibly belong to a quoted text.

    A closing tag without an opening one ends leading reasoning if it is at the end of a line: some servers put the opening tag
    into the prompt.
    """
    begin = reply.lstrip()
    if begin.startswith(("<|channel|>", "<|start|>")):
        return final_channel(reply)
    if _BARE_ANALYSIS.match(reply):
        return _without_bare_channels(reply)
    if not any(sign in reply for sign in _SIGNS):
        return reply
    tags = _tags(narrow(reply))
    start = number = 0
    while number < len(tags) and not tags[number][1] and not reply[start : tags[number][0].start()].strip():
        closing = next((later for later in range(number + 1, len(tags)) if tags[later][1]), None)
        if closing is None:
            return ""
        start, number = tags[closing][0].end(), closing + 1
    if number == 0 and tags and tags[0][1] and _ends_line(reply, tags[0][0]):
        start = tags[0][0].end()
    return reply[start:]


def _without_bare_channels(reply: str) -> str:
    """Returns a reply without the reasoning of a server that removed the control tokens of channels."""
    if _BARE_ANALYSIS.match(reply):
        return reply.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in reply else ""
    return reply


def _ends_line(text: str, tag: re.Match[str]) -> bool:
    """Says whether a tag ends a line that is not quoted, outside fences."""
    before, after = text[: tag.start()], text[tag.end() :].partition("\n")[0]
    line = before.rpartition("\n")[2].lstrip()
    return not after.strip() and not line.startswith(">") and len(_FENCE.findall(before)) % 2 == 0


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans between opening and closing reasoning tags."""
    spans = []
    opened: int | None = None
    for match, closes in _tags(narrow(text)) if any(sign in text for sign in _SIGNS) else ():
        if not closes and opened is None:
            opened = match.start()
        elif closes and opened is not None:
            spans.append((opened, match.end()))
            opened = None
    return spans


def _tags(text: str) -> list[tuple[re.Match[str], bool]]:
    """Returns the reasoning tags, each with whether it is a closing tag.

    A word in square brackets counts as a tag only if it is closed later, or is the ``[THINK]`` of a chat template.
    """
    found = list(_TAG.finditer(text))
    last_closing = max([match.start() for match in found if match["bracket_slash"]], default=-1)
    tags = []
    for match in found:
        edge = (match["edge"] or "").lower()
        closes = bool(match["slash"] or match["bracket_slash"] or match["channel_end"] or edge.startswith("end"))
        if match["bracket"] and not closes and match["bracket"] != "THINK" and match.start() > last_closing:
            continue
        tags.append((match, closes))
    return tags


def final_channel(reply: str) -> str:
    """Returns the text of the final channel, else the text sent to tools; never the analysis.

    A reply without channels is returned unchanged.
    """
    if "<|channel|>" not in reply:
        return reply
    bodies: dict[str, list[str]] = {"final": [], "tool": []}
    found = list(_CHANNEL.finditer(reply))
    if not found:  # a token without a name is not a channel
        return reply
    for match in found:
        end = _END_OF_CHANNEL.search(reply, match.end())
        body = reply[match.end() : end.start() if end else len(reply)]
        if match["name"].lower() == "final":
            bodies["final"].append(body)
        elif match["to"]:
            bodies["tool"].append(body)
    return "\n".join(bodies["final"] or bodies["tool"])
