"""Second step: replaces markup by blanks of the same length, which keeps all positions."""

import re

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
