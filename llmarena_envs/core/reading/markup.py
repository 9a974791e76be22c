"""Removal of all that is around an answer: reasoning, other speakers' turns, markup; and the bounds of lines and sentences."""

import re
from collections.abc import Iterator

EMBEDDED = "\ue000"
"""First character of the mask of an object, answer tag or box."""

FILLER = "\ue001"
"""Remaining characters of the mask."""

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SIGNS = dict(
    zip(
        "　\u00a0\u202f\ufeff\u200b\u200e\u200f【】〔〕「」『』“”„‟«»《》〈〉‹›‘’‚′、−‐‑⁄￥￡",
        '       [][]""""""""""<><><>\'\'\'\',---/¥£',
        strict=True,
    )
)
_NARROW = str.maketrans({**{chr(code): chr(to) for code, to in _FULL_WIDTH.items()}, **_SIGNS})
_LINE_BREAKS = str.maketrans(dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"))

FENCE = re.compile(r"^[ \t>]*+(?:```|~~~)[^\n`~]{0,40}+$", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,500}+~~|<(del|strike)>[^<\n]{0,500}+</\1>", re.IGNORECASE)
_TOKEN = re.compile(
    r"<\|[^|<>\n]{1,40}+\|>|<｜[^｜<>\n]{1,40}+｜>|</?s>|<(?:end|start)_of_turn>|<(?:eos|bos|pad|unk)>|\[(?:/?INST|EOS|BOS|PAD|e~)\[?\]?|"
    r"<</?SYS>>|<\|?(?:turn|channel)\|?>|</(?:assistant|message|turn)>|<0x0A>"
)
_HTML = re.compile(
    r"</?(?=[a-z])(?:b|i|u|p|em|br|hr|li|ul|ol|td|tr|tt|pre|code|kbd|div|span|font|mark|small|big|strong|center|blockquote|h[1-6]|samp|"
    r"html|body|s|bos)(?:[ ][^<>\n]{0,100}+)?[ ]?/?>|<!\[CDATA\[|\]\]>|&(?:quot|nbsp|apos|#39|lt|gt);",
    re.IGNORECASE,
)
_BREAKS = ("<br", "<p", "</p", "<li", "<div", "</div", "<hr")
_COMMAND = re.compile(
    r"(?P<open>\\(?P<name>[a-zA-Z]{1,20}+)[ ]?\{)|\\[\[\]()]|\\(?:left|right|quad|qquad|displaystyle)\b|"
    r"\\[,;:!\\]|(?P<brace>[{}])"
)
_ESCAPE = re.compile(r"\\(?=[_$*#%&~`{}<>\[\]().!+|-])")
_DOLLAR = re.compile(r"\$(?![ ]?[-+]?[\d.])")
_MARKS = str.maketrans("`*", "  ")
_SLANTED = re.compile(r"(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)")  # the underscores around _words_
_ANY = re.compile(r"[`*\\$<&_]|~~|\[[EBP/e]")


def narrow(text: str) -> str:
    """Returns ``text`` with full-width characters, quotes, brackets and line breaks normalized, at its original length."""
    return text.translate(_LINE_BREAKS) if text.isascii() else text.translate(_NARROW).translate(_LINE_BREAKS)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _blank_tag(match: re.Match[str]) -> str:
    tag = match[0]
    return ("\n" if tag.lower().startswith(_BREAKS) else " ") + " " * (len(tag) - 1)


def unwrap(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Returns narrowed ``text`` with markup replaced by blanks, and the spans of the contents of LaTeX boxes."""
    boxes: list[tuple[int, int]] = []
    if not _ANY.search(text):
        return text, boxes
    if "\\" in text:
        text, boxes = _without_latex(text)
    if "```" in text or "~~" in text:
        text = FENCE.sub(_blank, text)
    if "~~" in text or "<" in text:
        text = _TOKEN.sub(_blank, _STRUCK.sub(_blank, text))
    if "<" in text or "&" in text:
        text = _HTML.sub(_blank_tag, text)
    if "[" in text:
        text = _TOKEN.sub(_blank, text)
    text = text.translate(_MARKS)
    if "_" in text:
        text = _SLANTED.sub(" ", text.replace("__", "  "))
    return _DOLLAR.sub(" ", text.replace("$$", "  ")), boxes


def _without_latex(text: str) -> tuple[str, list[tuple[int, int]]]:
    blanked: list[tuple[int, int]] = []
    boxes = []
    open_braces: list[str | None] = []
    starts: list[int] = []
    for match in _COMMAND.finditer(text):
        if match["open"]:
            open_braces.append(match["name"])
            starts.append(match.end())
            blanked.append(match.span())
        elif match["brace"] == "{":
            open_braces.append(None)
            starts.append(match.end())
        elif match["brace"] == "}":
            if open_braces:
                name, start = open_braces.pop(), starts.pop()
                if name:
                    blanked.append(match.span())
                if name in ("boxed", "fbox", "framebox"):
                    boxes.append((start, match.start()))
        else:
            blanked.append(match.span())
    pieces = []
    position = 0
    for start, end in blanked:
        pieces += [text[position:start], " " * (end - start)]
        position = end
    return _ESCAPE.sub(" ", "".join(pieces) + text[position:]), sorted(boxes)


_ROLE = re.compile(r"\s*+(?:assistant|model|ai|bot)[ \t]*+:[ \t]*+", re.IGNORECASE)
_TEXT_COMMAND = re.compile(r"\\(?:boxed|text|textbf|textit|mathrm|mathbf|emph)[ ]?\{([^{}]{0,4000}+)\}")
_EMPHASIS = re.compile(
    r"(\*\*\*|\*\*|__|~~|`)(?=\S)((?:(?!\1)[^\n]){1,2000}?)(?<=\S)\1|(?<![\w*])\*(?=[^\s*])([^*\n]{1,2000}+)(?<=\S)\*(?![\w*])"
    r"|(?<!\w)_(?=[^\s_])([^_\n]{1,2000}+)(?<=[^\s_])_(?!\w)"
)
_LEFT_OVER = re.compile(
    r"\A\s*+(?:\*\*|__)(?![*_])|(?<![*_])(?:\*\*|__)\s*+\Z|(?<![#=\s-])[ \t\n]*+(?:#{3,}+|-{3,}+|={3,}+)\s*+\Z"
)
_ANSWER_TAG = re.compile(r"</?(?:final_)?(?:answer|output|response|message|clue|text|say|speech)>", re.IGNORECASE)
_INVISIBLE = " \t\n\r\x0b\x0c\u200b\ufeff\u3000"
_HEADING = re.compile(r"^[ \t]*+(?:#{1,6}[ \t]++|>[ \t]?)", re.MULTILINE)
_QUOTES = dict(zip("\"'“‘„«「『《〈‹`＂＇[【<{|$", "\"'”’“»」』》〉›`＂＇]】>}|$", strict=True))
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
MAX_CLEAN_PASSES = 8


def clean_text(text: str) -> str:
    """Returns free text for other players: without markup, emphasis, enclosing quotes, role and end-of-turn tokens.

    Idempotent.
    """
    for _ in range(MAX_CLEAN_PASSES):
        cleaned = _clean_once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _clean_once(text: str) -> str:
    text = _ROLE.sub("", text, count=1) if _ROLE.match(text) else text
    if "<" in text or "[" in text:
        text = _ANSWER_TAG.sub("", _HTML.sub(" ", _TOKEN.sub("", text)))
    if "\\" in text:
        text = _TEXT_COMMAND.sub(r"\1", text)
    if "```" in text or "~~~" in text:
        text = FENCE.sub("", text)
    if "*" in text or "_" in text or "`" in text or "~~" in text:
        text = _EMPHASIS.sub(lambda match: match[2] or match[3] or match[4], text)
    text = _HEADING.sub("", _LEFT_OVER.sub("", text)).strip(_INVISIBLE)
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and not _holds(text[1:-1], text[0], text[-1]):
        text = text[1:-1].strip()
    return text


def _holds(text: str, opening: str, closing: str) -> bool:
    """Says whether a text contains one of the quotes; an apostrophe in a word does not count."""
    if opening in "'‘":
        text = _APOSTROPHE.sub("", text)
    return opening in text or closing in text


MAX_LINES = 1_000
"""Maximum number of lines parsed, counted from the end, without blank lines."""

_MAX_SENTENCE = 200
_TEXT = re.compile(rf"[\w{EMBEDDED}]")
_SENTENCE_END = re.compile(r"[.!?;。！？；](?=\s|[^\x00-\x7f]|$)")


def has_text(text: str, start: int, end: int) -> bool:
    """Says whether a part of ``text`` holds a letter, a digit or a masked block."""
    return _TEXT.search(text, start, end) is not None


def last_lines(text: str) -> list[tuple[int, int, bool]]:
    """Returns the last lines with text: start, end and whether a blank line precedes."""
    lines: list[tuple[int, int, bool]] = []
    end = len(text)
    while end >= 0 and len(lines) < MAX_LINES:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            lines.append((start, end, False))
        elif lines:
            lines[-1] = (*lines[-1][:2], True)
        end = start - 1
    lines.reverse()
    return lines


def line_end(text: str, start: int) -> int:
    """Returns the end of the line that contains ``start``."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def lines_end(text: str, end: int, count: int) -> int:
    """Returns the end of ``count`` lines with text, counted from the one that ends at ``end``."""
    lines = 1
    while lines < count and 0 <= end < len(text):
        start = end + 1
        end = line_end(text, start)
        lines += has_text(text, start, end)
    return end


def ends_text(text: str, start: int, count: int) -> bool:
    """Says whether nothing follows the next ``count`` lines."""
    for _ in range(count):
        end = line_end(text, start)
        if not has_text(text, end, len(text)):
            return True
        start = end + 1
    return False


def sentence_before(text: str, position: int, start: int) -> str:
    """Returns the text from the beginning of the sentence, at the earliest ``start``, to ``position``."""
    context = text[max(start, position - _MAX_SENTENCE) : position]
    ends = list(_SENTENCE_END.finditer(context))
    return context[ends[-1].end() :] if ends else context


_TURN = re.compile(
    r"<\|(?=[a-z])(?:im_end|eot_id|eom_id|eot|end|endoftext|end_of_text|end_of_turn|end_turn|end_of_message|return|call|end_response|"
    r"start_response|end_of_turn_token|begin_of_text|end.of.sentence|begin.of.sentence)\|>|</s>|<end_of_turn>|<eos>|<bos>|\[/INST\]|\[/?ASSISTANT\]"
    r"|(?:<\|im_start\|>|<\|start\|>|<\|start_header_id\|>\s{0,3}|<start_of_turn>)(?P<role>\w{1,20}+)?(?:\s{0,3}<\|end_header_id\|>)?(?:<\|channel\|>\w{1,20}+)?(?:<\|message\|>)?"
    r"|<\|(?=[a-z])(?P<token>user|human|system|tool|observation|assistant|model|bot|chatbot)\|>|(?P<instruction>\[INST\]|\[USER\])"
    r"|^[ \t#*]{0,6}(?P<name>human|user|system|assistant|ai|bot|model|用户|助手|系统)[ \t*]{0,4}:"
    r"|^#{1,4}[ ]?(?P<heading>instruction|input|question)\b[ \t]{0,4}:?",
    re.IGNORECASE | re.MULTILINE,
)
_FOREIGN = frozenset(
    (
        "user",
        "human",
        "system",
        "tool",
        "observation",
        "ipython",
        "function",
        "instruction",
        "input",
        "question",
        "用户",
        "系统",
    )
)
MAX_TURNS = 20


def own_turns(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of turns in narrowed ``text`` that are not in the name of a user, a system or a tool."""
    start, foreign, turns = 0, False, 0
    for match in _TURN.finditer(text):
        if not foreign and text[start : match.start()].strip():
            yield start, match.start()
            turns += 1
            if turns == MAX_TURNS:
                return
        start = match.end()
        role = (
            match["role"]
            or match["token"]
            or match["name"]
            or match["heading"]
            or ("user" if match["instruction"] else "")
        )
        foreign = role.lower() in _FOREIGN
    if not foreign and text[start:].strip():
        yield start, len(text)


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
_TAG_SIGNS = ("<", "[", "◁", "＜", "［")

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
    if not any(sign in reply for sign in _TAG_SIGNS):
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
    if not any(sign in reply for sign in _TAG_SIGNS):
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
    for match, closes in _tags(narrow(text)) if any(sign in text for sign in _TAG_SIGNS) else ():
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
