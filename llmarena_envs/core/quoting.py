"""Quoting of a player's text for judges and other players."""

import re

# Tokens of chat templates for roles, reasoning and ends of turns: signs, special characters in a name, or one of a few words.
# HTML tags, type parameters and subscripts do not match.
_WORDS = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|reflections?|analysis|scratchpad|monologue|antthinking|system|user|assistant|human|model|tool|bot|"
    r"developer|function|observation|instructions?|channel|message|turn|image|[a-z]?mask|[besp]o[a-z]|pad|unk|cls|sep|s"
)
_TOKEN = re.compile(
    # <|...|>, <｜...｜>, <think>, <think budget=5>, </s>, <turn|>, <_user>, <extra_id_0>, <seed:bos>, <unused0>, <0x0A>, <<SYS>>
    rf"[<＜](?=[|｜]|(?!(?<=\w[<＜])(?-i:[A-Z][a-z]))/?(?:{_WORDS})(?:[\s=][^<>＜＞\n]{{0,80}})?/?[>＞]|/?[a-z]\w{{0,40}}[|｜][>＞]"
    r"|/?(?:_\w{1,40}|[a-z][a-z0-9]{0,40}(?:_|:(?!:))[\w:.-]{0,60}|[a-z]{3,40}\d{1,6}|0x[0-9a-f]{1,4})/?[>＞]|<?/?sys\b)"
    r"|◁(?=/?\w)"
    # [|...|], [/INST], [SYSTEM_PROMPT], [INST], [gMASK], [unused1], [e~[
    r"|[\[［](?=[|｜]|/[a-z][\w ]{0,40}[\]］]|[a-z]{1,3}~\[|unused\d{1,6}\]|(?-i:[A-Z]+(?:_[A-Z]+)+|[gs]MASK)[\]］]"
    r"|(?!(?<=\w[\[［])(?-i:[a-z]))(?:inst|sys|system|user|assistant|human|tool|args|img|think(?:ing)?|reasoning|mask|"
    r"[be]o[a-z]|pad|unk|cls|sep|prefix|suffix|middle)[\]］])"
    # ]~b]
    r"|\](?=~[!a-z]{1,3}[\[\]]|<[\]\[])",
    re.IGNORECASE,
)

_LINE_END = re.compile("\r\n?|[\u2028\u2029\x85]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")
_LONG_BLANK = re.compile(r"[^\S\n]{33,}+")
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("<[{＜［｛〈《【〔«‹「", "("),
        **dict.fromkeys(">]}＞］｝〉》】〕»›」", ")"),
        **dict.fromkeys("`~", "'"),
    }
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Returns a text without control characters and lone surrogates, with normalized line ends."""
    return _UNPRINTABLE.sub("", _LINE_END.sub("\n", text))


def tidy(text: str) -> str:
    """Returns a text without surrounding whitespace and without long runs of blanks or blank lines."""
    return _LONG_BLANK.sub(" " * 32, _BLANK_LINES.sub("\n\n", text)).strip()


def without_tokens(text: str) -> str:
    """Returns a text with the control tokens of chat templates broken by a blank after their first sign."""
    return _TOKEN.sub(lambda match: f"{match[0]} ", text)


def without_marks(text: str) -> str:
    """Returns a text with brackets and code marks replaced by parentheses and quotes, so that it contains no markup."""
    return text.translate(_PLAIN)


def quote(text: str) -> str:
    """Returns a player's text, quoted for a judge or another player.

    Every line gets the prefix ``> ``, so it cannot imitate a line of the environment; control tokens are broken.
    """
    lines = without_tokens(text).splitlines()
    return "\n".join(f"> {line}" for line in lines) or ">"
