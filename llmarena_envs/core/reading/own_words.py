"""A judge's own statement: one rule for verdicts, ratings and rulings.

Quotations, reasoning and forms repeated from the prompt state nothing. One distinct value counts where the judge announces it as
its own. Of several the one in a firm place counts, which is alone on the last line or behind a label such as ``Verdict:`` at the
beginning of a line, unless another firm place or a later value differs from it. Rejected values (``not [[A]]``) and those of
others (``Judge 3, who said [[A]]``) do not compete. Everything else is refused: the judge is asked again.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.reading.labels import FILLER, NOT_MEANT
from llmarena_envs.core.reading.markup import narrow, unwrap
from llmarena_envs.core.reading.objects import read_object
from llmarena_envs.core.reading.quotations import Quotation, cover, find_quotations
from llmarena_envs.core.reading.reasoning import reasoning_spans

Value = TypeVar("Value")

_LINE = re.compile(r"[^\n]++")
_MAX_CONTEXT = 200
_MAX_BARE = 60
_MAX_WRAPPERS = 4
_MAX_LINE = 300
"""Characters of a line that can be nothing but a value or a label."""

_MAX_WEIGHED = 300
"""Values whose neighbours are looked at, counted from the end; nothing clears those before."""

_MAX_GAP = 80
_NO_DOUBLE = "  [["

_CONTENT = r"[ \t]{0,20}+([^\[\]\n]{1,40}?)[ \t]{0,20}"
_DOUBLE = re.compile(rf"(?<![\[A-Za-z0-9_)\]])(?<![A-Za-z0-9_]\()\[\[{_CONTENT}\]\](?![\[\]]|\.\w)")
_SINGLE = re.compile(rf"\[{_CONTENT}\](?!\])")

_ANSWER_TAG = re.compile(r"</?(?:final_?)?(?:answer|verdict|rating|judge?ment|decision|ruling)>", re.IGNORECASE)

# Labels in front of a judge's own statement; behind a firm one no brackets are needed.
_FIRM = r"verdict|rating|judge?ment|decision|ruling"
_CHINESE_FIRM = "裁决|裁定|判决|判定|评判|评分|打分|总评分?|总分"
_LABEL = (
    r"(?:(?:so|thus|therefore|hence|consequently|in conclusion|in summary|to conclude|"
    r"综上(?:所述)?|因此|所以|总之)[ \t]*[,:]?[ \t]*)?"
    r"(?:(?:(?:my|the|our|this|own|new|revised|updated|final|overall)[ \t]+){0,4}"
    rf"(?:(?P<firm>{_FIRM}|(?<=final[ ])(?:score|grade|evaluation|assessment)|(?<=overall[ ])(?:score|grade))|"
    r"score|grade|conclusion|answer|assessment|evaluation|choice|result|winner|preference|selection|turn)"
    r"|final(?:[ ]\w{1,20}){0,3}|(?P<overall>overall)"
    rf"|(?:我的|我|最终的?|最后的?|总体|综合|整体){{0,3}}(?:(?P<chinese>{_CHINESE_FIRM}|(?<=最终)结论)|得分|分数|结论|判断|结果|答案|选择|轮次?))"
    r"(?:[ \t]*\((?:final|revised|overall|1-10|out of 10|最终)\))?"
)
_BEGIN = r"[ ]{0,3}(?:[|#•·+-]{1,6}[ \t]+){0,2}(?:\d{1,2}[.)][ \t]+)?[ \t]*"
_LABELLED = re.compile(
    rf"{_BEGIN}{_LABEL}[ \t\"|]*(?:(?:[:=]+>?|[-–—→]+>?)|(?P<is>is(?:[ ]that)?\b|为|是):?)[ \t|(\"]*", re.IGNORECASE
)
_LABEL_INSIDE = re.compile(rf"(?<![A-Za-z]){_LABEL}[ \t\"|]*[:=][ \t\"]*", re.IGNORECASE)
_LABEL_ALONE = re.compile(rf"{_BEGIN}{_LABEL}[ \t\"|)]*[:.]?[ \t\"|]*", re.IGNORECASE)
_KEY = re.compile(_LABEL, re.IGNORECASE)
_ALONE = re.compile(rf"{_BEGIN}(?P<value>\S.*?)[ \t|.。!！]*", re.DOTALL)

# What ends a value without brackets.
_TERMINATOR = re.compile(
    r"[ \t]*(?:\Z|[.。](?=[\s\ue001]|[^\x00-\x7f]|\Z)|[!！]|(?P<more>[;；,，](?!\d)|[(（]|[-–—](?=[ \t])|(?<=[ \t])(?:because|"
    r"since|as)\b|因为))"
)
_FURTHER = re.compile(r"(?<!out of )(?<!\d)(?!10\W*\Z)\d")
_TOKEN = re.compile(
    r"[^\w\n-]*(?:(?:maybe|perhaps|possibly|or|even|rather)[ ]){0,3}(\S{1,12}?)(?=[.,;:!?)。，；、）]|[ \t]*(?:\Z|(?:or|and)\b))"
)

_CLAUSE_END = re.compile(
    r"[.!?;](?=\s|\Z)|,(?!\d)|[。；！？，、…|]|(?:\n|\ue001)[ \t]*\n|\.\.\.|(?<![:,])(?<![:,][ ])\n(?![ \t]*(?:[a-z\[]|\Z))"
)
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|or)\b\W*)?(?:if|unless|had|were|suppos\w+|assuming|imagine)\b|\W*(?:如果|假如|假设|若|要是|除非)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？\n]")
# Inside a sentence a value counts if the judge announces it as its own and says nothing further about it.
_ENDS = re.compile(
    r"[\s\"'|)\]]*(?:[ ]?/[ ]?10\b|out of 10\b|points?\b|分)?[\s\"'|)\]]*"
    r"(?:\Z|\n|\[\[|(?-i:[ ]*[A-Z])|[.!;:。！；(]|-[ -]|[–—]|(?:because|since|given|after all|overall|in total|in the end|"
    r"all in all)\b|因为"
    r"|(?:wins?|is (?:clearly |slightly )?better|is (?:the )?(?:winner|better))\b|胜|更好"
    r"|(?P<more>[,，、]|(?:here|not|over|rather than|instead of|by)\b|而不是|而非))",
    re.IGNORECASE,
)
_CONNECTIVES = re.compile(
    r"(?:[\s\"'(|#*•>+:-]|\b(?:so|thus|hence|therefore|then|overall|finally|lastly|in conclusion|to conclude|in summary|"
    r"all in all|altogether|and|"
    r"but|still|yet|however|it is|it's|this is|that is|this makes|it can only be|can only be|a|an|the|clearly|simply|just|"
    r"only|well|no|yes)\b"
    r"|因此|所以|故|综上(?:所述)?|总之|最终|最后|而|那么|是)*",
    re.IGNORECASE,
)
_OWN_NOUN = r"(?:verdict|rating|decision|judge?ment|ruling|vote|choice|conclusion|preference|grade)"
_CALMLY = (
    r"(?:'d|'ll|'m)?[ ](?:(?:would|will|must|can|therefore|thus|hence|hereby|now|still|also|clearly|only|have to|want to|am|"
    r"then)[ ])*"
)
_VERDICT_ANNOUNCED = re.compile(
    rf"(?:(?<!'s )(?<!other )\b(?:the|this|our)[ ](?:(?:final|overall|right|fair|appropriate|correct)[ ])*{_OWN_NOUN}"
    rf"|\bmy[ ](?:\w+[ ]){{0,2}}{_OWN_NOUN})"
    r"(?:[ ](?:for|of|on)[ ](?:this|the)[ ](?:\w+[ ])?(?:response|answer|debate))?[ ]?"
    r"(?:(?:therefore|thus|hence|then|now|still|clearly)[ ])*(?:is|remains|stays|goes to|must be|=|:)"
    rf"|\b(?:I|we){_CALMLY}(?:choose|pick|vote|give|go (?:with|for)|say|decide|conclude|settle|award|assign|keep|maintain|"
    r"stay with|stand by|prefer|agree|judge|uphold|confirm|reaffirm|rule|select|end with|favou?r|lean|stick|side with|call)\b"
    r"|\b(?:better|wins?|superior|ahead|convincing|stronger)\b[^,:]{0,40}:\s*\Z"
    r"|我(?:的)?(?:[^，。]{0,6})(?:判|选|给|认为|投|裁|维持|坚持|同意|决定)|(?:裁决|裁定|判决|判定|结论)(?:是|为|:)"
    r"|(?:更好|胜出|更优)\s*:\s*\Z|判定",
    re.IGNORECASE,
)
_RATING_ANNOUNCED = re.compile(
    r"(?:(?<!'s )(?<!other )\b(?:the|this|our)[ ](?:(?:final|overall|right|fair|appropriate)[ ])*(?:rating|grade)"
    r"|\bmy[ ](?:\w+[ ]){0,2}(?:rating|grade|score))"
    r"(?:[ ](?:for|of)[ ](?:this|the)[ ](?:\w+[ ])?(?:response|answer|simulation))?[ ]?"
    r"(?:(?:therefore|thus|hence|then|now|still|clearly)[ ])*(?:is|remains|stays|must be|=|:)[ ]*(?:(?:a|therefore|thus|"
    r"hence|then|now|still)[ ])*\Z"
    rf"|(?:\b(?:I|we){_CALMLY}(?:give|rate|score|grade|award|assign|settle|say|conclude|decide|keep|maintain)"
    r"|\b(?:deserves|merits|earns|warrants))"
    r"(?:[ ](?:it|this|that|the|last|final|response|answer|simulation|reply|a|an|rating|score|grade|of|with|at|as|for|on|"
    r"overall|"
    r"only|just|is|be|should|therefore|clear|solid|fair))*[ :]*\Z"
    r"|(?:我(?:会|将|最终|只|认为)?(?:给|打|评)(?:它|出|(?:这个|该|这份|本|最后的?)?(?:回复|回答))?[ ]?(?:打|评)?|"
    r"评分(?:是|为|:)|打分(?:是|为|:)"
    r"|(?:回复|回答|它)(?:应得|值))\s*\Z",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"\b(?:as follows|the following|this line|these words)\b[^.]{0,20}\.?\Z|如下.?\Z", re.IGNORECASE)
_NO_RATING = re.compile(
    r"(?:answer|choice|result|winner|preference|selection|conclusion|output|value|结果|答案|结论|判断|选择)\W*(?:is\W*|是|为)?\Z",
    re.IGNORECASE,
)
_OTHER_JUDGE = re.compile(r"[^\w\n]*(?:the )?(?:other )?(?:judge|评委)[ ]?#?\d*\b[^:\n]{0,30}:", re.IGNORECASE)
_THIRD = re.compile(
    r"[^:\n]*\b(?:responses?|answers?|users?|it|they|he|she|texts?|dialogues?|teacher|assistants?|program|"
    r"judges?[ ]?#?\d)\b[^:\n]*:"
    r"|[^:\n]*(?:回复|回答|用户|助手|程序|评委)[^:\n]*:",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|or)\b\W*)?(?:if|unless|had|were|suppos\w+|assuming|imagine)\b|\W*(?:如果|假如|假设|若|要是|除非)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？\n]")
# Inside a sentence a value counts if the judge announces it as its own and says nothing further about it.
_ENDS = re.compile(
    r"[\s\"'|)\]]*(?:[ ]?/[ ]?10\b|out of 10\b|points?\b|分)?[\s\"'|)\]]*"
    r"(?:\Z|\n|\[\[|(?-i:[ ]*[A-Z])|[.!;:。！；(]|-[ -]|[–—]|(?:because|since|given|after all|overall|in total|in the end|"
    r"all in all)\b|因为"
    r"|(?:wins?|is (?:clearly |slightly )?better|is (?:the )?(?:winner|better))\b|胜|更好"
    r"|(?P<more>[,，、]|(?:here|not|over|rather than|instead of|by)\b|而不是|而非))",
    re.IGNORECASE,
)
_CONNECTIVES = re.compile(
    r"(?:[\s\"'(|#*•>+:-]|\b(?:so|thus|hence|therefore|then|overall|finally|lastly|in conclusion|to conclude|in summary|"
    r"all in all|altogether|and|"
    r"but|still|yet|however|it is|it's|this is|that is|this makes|it can only be|can only be|a|an|the|clearly|simply|just|"
    r"only|well|no|yes)\b"
    r"|因此|所以|故|综上(?:所述)?|总之|最终|最后|而|那么|是)*",
    re.IGNORECASE,
)
_OWN_NOUN = r"(?:verdict|rating|decision|judge?ment|ruling|vote|choice|conclusion|preference|grade)"
_ANNOUNCES = re.compile(
    rf"(?:(?<!'s )(?<!other )\b(?:the|this|our)[ ](?:(?:final|overall|right|fair|appropriate|correct)[ ])*{_OWN_NOUN}|"
    rf"\bmy[ ](?:\w+[ ]){{0,2}}(?:{_OWN_NOUN}|score))"
    r"(?:[ ](?:for|of)[ ](?:this|the)[ ](?:last[ ])?(?:response|answer|debate))?[ ]?(?:(?:therefore|thus|hence|then|now|"
    r"still|clearly)[ ])*(?:is|remains|stays|goes to|must be|=|:)"
    r"|\b(?:I|we)(?:'d|'ll|'m)?[ ](?:(?:would|will|must|can|therefore|thus|hence|hereby|now|still|also|clearly|only|have to|"
    r"want to|am|going to|then)[ ])*"
    r"(?:choose|pick|vote|give|go|rate|score|grade|say|think|believe|decide|conclude|find|settle|award|assign|keep|maintain|"
    r"stay|stand|prefer|agree|"
    r"call|judge|uphold|confirm|reaffirm|rule|select|end|answer|state|put|see|consider|favou?r|lean|stick|side|arrive|come)\b"
    r"|\b(?:deserves|merits|earns|warrants|is worth|rates|scores)[ ](?:a|an|the)?(?:[ ]?(?:\w+[ ])?(?:rating|score|"
    r"grade)(?:[ ]of)?)?\W*\Z"
    r"|\b(?:better|wins?|superior|ahead|convincing|stronger)\b[^,:]{0,40}:\s*\Z"
    r"|我(?:的)?(?:[^，。]{0,6})(?:判|选|给|认为|投|裁|评|维持|坚持|同意|决定)|(?:裁决|裁定|判决|判定|评分|打分|结论)(?:是|为|:)|(?:更好|胜出|更优)\s*:\s*\Z|"
    r"(?<!用户)(?:应得|值|给)\s*\Z|判定",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\b(?:e\.g\.|i\.e\.|such as|for example|for instance|form|format|template)|格式[是为]?|形式[是为]?|例如|比如)"
    r"[,:，：]?[ \t]*(?:rating|verdict|turn|评分|裁决)?[ \t]*:?[ \t]*\Z",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?:said|says|saying|wrote|writ(?:es?|ing|ten)|claim\w*|stat(?:es?|ed|ing)|gave|gives|vot(?:es?|ed)|chose|chooses|"
    r"argue[sd]?|"
    r"demand\w*|asks?|asked|asking|request\w*|insist\w*|instruct\w*|tells?|told|tr(?:y|ies|ied|ying)|contain\w*|includ\w*|"
    r"print\w*|"
    r"output\w*|return\w*|produc\w*|inject\w*|manipulat\w*|end(?:s|ed) (?:with|in)|according to|declar\w*|prefer(?:s|red)|"
    r"call(?:s|ed)|"
    r"judges?[ ]?#?\d|"
    r"other judges?|another judge|first (?:verdict|rating|impression|thought|choice|vote))\b"
    r"|评委|说|写|称|声称|要求|试图|输出|打印|返回|他们?|她",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:opposite|against|anything but|refus\w*|hardly|nothing|little|declin\w*)\b"
    r"|很难|难以|拒绝|反对|无法|原本|原先|原来|最初|起初|本来|一开始|先前|此前",
    re.IGNORECASE,
)
_OWN_LEAD = re.compile(r"\W*(?:[^\W\d_]{1,20}\W+){0,2}(?:(?:I|my|here is|here's)\b|我|本评委)", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|my|we|our|I'[dl]l?|here is|here's)\b|我|本评委", re.IGNORECASE)
_MAY_CONSIDER = re.compile(
    r"\bI(?:'d| would| will|'ll)\b|\bnot only\b|\bafter considering\b|\b(?:in the|as) (?:required|requested) format\b|"
    r"\b(?:keep|maintain|stand by|stick (?:to|with)|uphold|confirm|reaffirm)\w*[ ](?:\w+[ ]){0,3}(?:previous|initial|"
    r"earlier|original|first)\b"
    r"|(?:维持|坚持|保持)[^，。]{0,6}(?:之前|原来|原先|最初)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|rather than|instead of|never)(?:[ ](?:a|an|the|for))?|而不是|而非|不是|并非)[ \t(]*\Z", re.IGNORECASE
)
_OF_OTHERS = re.compile(
    r"(?:\b(?:judges?[ ]?#?\d*|assistants?[ ][AB]|responses?|answers?|who|which|it|they|users?|programs?|debaters?)\b|"
    r"评委|助手|"
    r"回答|回复|用户|程序)"
    r"[^\n]{0,80}?(?:\b(?:said|says|wrote|writes|claims?|claimed|states?|stated|gave|voted|chose|argued|argues|demands?|"
    r"demanded|"
    r"asks for|asked for|prints?|printed|contains?)\b|说|写|称|要求|给出|投|判|选)[^\n,;.。]{0,40}\Z"
    r"|\bjudges?[ ]?#?\d+(?:'s)?[ :(]{1,3}(?:verdict|rating|vote)?[ :(]{0,3}(?:is|was)?\W{0,3}\Z",
    re.IGNORECASE,
)
_OF_PROGRAM = re.compile(
    r"\b(?:outputs?|results?|matrix|array|list|vector|prints?|printed|returns?|returned|value|expected|element|row|index|"
    r"displays?|displayed|"
    r"shows?|showed)\b|输出|结果|矩阵|数组|打印|返回|显示",
    re.IGNORECASE,
)
_RATES = re.compile(r"\b(?:rat(?:e[sd]?|ing)|scor|grad|mark|giv|gave|deserv|merit|worth|earn)|评|分|给", re.IGNORECASE)
_CONVINCES = re.compile(
    r"\b(?:convinc|persuad|follow|join|agree|adopt|accept|prefer)\w*|同意|说服|接受|采纳|赞成", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"[\s)\"]*(?:[?？]|(?:if|unless|or|would|could|might|was|were|seems?|looks?|should|cannot|can't|isn't|initially|at first|"
    r"before)\b|"
    r"[,，][ ]?(?:according|as (?:judge|claimed|others)|(?:judge[ ]?#?\d|the (?:user|response|others?))[^.!?\n]{0,30}"
    r"(?:says|said|claims|thinks)|评委)|\(?quot(?:ed|ing)\b|"
    r"is (?:not|wrong|what|too|un\w+|in\w+)\b|(?:was|were)\b|as (?:judge|the other|others|proposed|demanded)\b|according\b|"
    r"[,.;]?[ ]?(?:or[ ]|but[ ])?(?:maybe|perhaps|possibly|也许|可能)|不(?!分)|如果|还是|或|吗|是错|是评委|太)",
    re.IGNORECASE,
)
_RETRACTS = re.compile(
    r"(?:^|[.!?…。！？,，;；:\n—–-])[\s\"'(]{0,8}+(?:(?:oh|but|hmm+|well|ok|okay|and|so|然而|但是?|哦)\b[\s,，]{0,4}+){0,3}"
    r"(?:wait\b|no\s*[,.!…—–-]|actually\b|oops\b|scratch that|correction\b|on (?:second thoughts?|reflection|"
    r"reconsideration)\b|sorry\b|"
    r"(?:this|that|which) (?:is|was) what\b|mine (?:is|differs)\b|"
    r"rather\b(?! than)|let me (?:re\w*|correct|change|fix)\b|"
    r"i (?:(?:now|hereby|must|have to|want to|would like to|will|'ll|then|therefore)[ ])*"
    r"(?:take (?:it|that|this) back|change\b|changed|switch|revise|retract|withdraw|misread|misjudged|made (?:a|"
    r"an) (?:mistake|error)|"
    r"reconsider|correct myself|was wrong)|"
    r"(?:现在|现)?(?:改判|改为|改成|改选)|不对|不是[，,]|不[，,]|等等|等一下|更正|我改|重新考虑|应该是|应为|其实|抱歉|我错)",
    re.IGNORECASE | re.MULTILINE,
)
_PLACEHOLDER = re.compile(
    r"(?:your |the |a )?(?:rating|score|verdict|number|value|x|k|n|\.{2,}|…|评分|分数|裁决|数字)", re.IGNORECASE
)
_JOINED = re.compile(
    r"[\s,;/|、，；\"'`*•-]*(?:\b(?:or|and|to)\b|或者?|和|与|还是|及|到|至)?[\s\"'`*•-]*"
    r"|[ \t]*(?:\(|:|=|-|–)?[ \t]*(?:if|for|when|means|表示|代表|如果|若)[^\[\]\n.。]{0,60}"
    r"[,;.，；、\s)]*(?:\b(?:or|and)\b|或者?|"
    r"和)?[\s\"'`*•-]*"
    r"|[ \t]*[,;，；][^\[\]\n.。]{0,16}(?:写|用|选)[ \t]*"
    r"|\s*(?:-|–|~|\.\.\.|…)\s*",
    re.IGNORECASE,
)


class Form(NamedTuple, Generic[Value]):
    """The form of a value.

    Attributes:
        read: reads the contents of brackets, or the text behind a label; ``None`` for other texts.
        missing: name of the reason if nothing is stated.
        unclear: name of the reason if it is not clear which value is meant.
        listed: sets of values: one of these, named in a row, repeats the prompt.
        is_number: whether values are numbers, which judged texts contain too.
        in_words: whether values stand behind a label, without brackets.
    """

    read: Callable[[str], Value | None]
    missing: str
    unclear: str
    listed: tuple[frozenset[Value], ...] = ()
    is_number: bool = False
    in_words: bool = False


class Stated(NamedTuple):
    """A value in a text.

    Attributes:
        start: where it begins.
        end: where it ends.
        value: the value, or ``UNREADABLE``.
        firm: whether its place outweighs others.
        clear: whether the judge announces it as its own, without a doubt.
        harmless: whether the judge rejects it or attributes it to others.
    """

    start: int
    end: int
    value: Any
    firm: bool = False
    clear: bool = True
    harmless: bool = False


UNREADABLE = object()
"""The value of a firm place that holds something else."""


def read_stated(text: str, form: Form[Value]) -> Value:
    """Returns the value that a judge states.

    Args:
        text: the judge's words, without reasoning at their beginning.
        form: the form of a value.

    Raises:
        Refusal: if there is none, or it is not clear which one is meant.
    """
    text = unwrapped(text)
    quotations = find_quotations(text)
    for as_marks in (False, True):
        words = _Words(text, quotations, form, as_marks=as_marks)
        found = words.find() or words.last_sentence()
        if any(each.value is not UNREADABLE for each in found):
            return words.decide(found)
    raise Refusal(Failure.UNPARSABLE, form.missing)


def unwrapped(text: str) -> str:
    """Takes off a fence or quotation marks around the whole; of an object the labelled fields are left, one a line."""
    for _ in range(_MAX_WRAPPERS):
        text = text.strip()
        first = next(iter(find_quotations(text)), None) if text[:1] in "`~\"“«「『„'‘" else None
        if first is None or not first.closed or first.end != len(text):
            break
        text = text[first.inner_start : first.inner_end]
    fields = read_object(text) if text[:1] == "{" else None
    stated = [
        f"{key.replace('_', ' ')}: {value}"
        for key, value in (fields or {}).items()
        if isinstance(value, int | str) and "\n" not in str(value) and _KEY.fullmatch(key.replace("_", " "))
    ]
    return "\n".join(stated) or text


def is_retracted(text: str, end: int) -> bool:
    """Says whether a judge retracts its statement behind ``end``."""
    return _RETRACTS.search(text, end) is not None


def presents_another(text: str) -> bool:
    """Says whether the line at the end of a text presents what follows as part of another text."""
    above = text.rstrip()
    if text.count("\n", len(above)) > 1 and not above.endswith(":"):
        return False
    line = _SENTENCE_END.split(above.rpartition("\n")[2][-_MAX_CONTEXT:])[-1]
    if line.endswith((".", "!", "?")):
        return False
    return _SPOKEN.search(line) is not None and not _FIRST_PERSON.search(line)


def quotes_statement(text: str) -> bool:
    """Says whether a quotation beside other words holds a label with something behind it."""
    for each in find_quotations(text):
        line_start = text.rfind("\n", 0, each.start) + 1
        rest = text[line_start : each.start] + text[each.end :].partition("\n")[0]
        if any(sign.isalnum() for sign in rest) and _LABEL_INSIDE.search(
            narrow(text[each.inner_start : each.inner_end])
        ):
            return True
    return False


class _Words(Generic[Value]):
    """A judge's words with everything covered that states nothing.

    Args:
        text: the words.
        quotations: the quotations in them.
        form: the form of a value.
        as_marks: whether marks around nothing but a value behind a label count as its decoration.
    """

    def __init__(self, text: str, quotations: list[Quotation], form: Form[Value], *, as_marks: bool) -> None:
        self._form = form
        self._open = [each for each in quotations if not each.closed]
        plain = narrow(text).replace("\\[\\[", _NO_DOUBLE).replace("\\]\\]", "]]  ")
        plain = _ANSWER_TAG.sub(lambda tag: _blank(tag[0]), plain)
        closed = [each for each in quotations if each.closed]
        kept = [
            each
            for each in closed
            if as_marks and plain[each.start : each.inner_start].strip() != ">" and self._decorates(plain, each)
        ]
        starts = {each.start for each in kept}
        plain = cover(plain, [each for each in closed if each.start not in starts], FILLER)
        for each in kept:
            marks = ((each.start, each.inner_start), (each.inner_end, each.end))
            plain = cover(plain, [Quotation(*mark, *mark) for mark in marks], " ")
        spans = [Quotation(start, end, start, end) for start, end in reasoning_spans(plain)]
        self._raw = cover(plain, spans, FILLER)
        self.text = unwrap(self._raw)[0]
        self._lines = [match.span() for match in _LINE.finditer(self.text) if not match[0].isspace()]
        self._starts = [start for start, _ in self._lines]
        own = [number for number, span in enumerate(self._lines) if any(map(str.isalnum, self.text[slice(*span)]))]
        self._last = own[-1] if own else -1

    def _decorates(self, plain: str, quotation: Quotation) -> bool:
        inner = unwrap(plain[quotation.inner_start : quotation.inner_end])[0].strip()
        label = _LABELLED.match(inner)
        value = inner[label.end() :] if label else inner
        if "\n" in inner or self._whole(value, bare=True) is None:
            return False
        start, end = plain.rfind("\n", 0, quotation.start) + 1, plain.find("\n", quotation.end)
        before = unwrap(plain[start : quotation.start])[0]
        after = "" if quotation.language is not None else plain[quotation.end : end if end >= 0 else len(plain)]
        above = unwrap(plain[:start].rstrip().rpartition("\n")[2][-_MAX_LINE:])[0]
        is_labelled = _LABELLED.fullmatch(before) or (not before.strip() and _LABEL_ALONE.fullmatch(above))
        return bool(is_labelled) and not any(map(str.isalnum, after))

    def find(self) -> list[Stated]:
        """Returns the values stated, in order."""
        found = {each.start: each for each in (self._behind_labels() if self._form.in_words else self._in_prose())}
        for each in self._in_firm_places():
            found[each.start] = each
        stated = [
            each if not self._is_open(each) else each._replace(firm=False, clear=False) for each in found.values()
        ]
        return self._without_echoes(sorted(stated, key=lambda each: each.start))

    def last_sentence(self) -> list[Stated]:
        """Returns the value behind a label that begins the last sentence, where nothing else is stated."""
        start, end = self._lines[self._last] if self._last >= 0 else (0, 0)
        ends = [match.end() for match in _SENTENCE_END.finditer(self.text, start, end)]
        label = next((found for place in ends[::-1][:2] if (found := _LABELLED.match(self.text, place, end))), None)
        stated = self._behind(label, end) if label and not label["is"] else None
        if stated and stated.value is not UNREADABLE and not self.text[stated.end : end].strip(' \t.!。|"]'):
            return [stated._replace(firm=False)]
        return []

    def decide(self, found: list[Stated]) -> Value:
        """Returns the value that counts.

        Raises:
            Refusal: if it is not clear which one.
        """
        firm = [each for each in found if each.firm]
        weighing = firm or [each for each in found if not each.harmless]
        if len({each.value for each in weighing}) != 1 or not (firm or any(each.clear for each in weighing)):
            raise self._refusal()
        chosen = weighing[-1]
        later = [each for each in found if each.start > chosen.start]
        if chosen.value is UNREADABLE or not all(each.harmless or each.value == chosen.value for each in later):
            raise self._refusal()
        if later and _CONVINCES.search(self.text, chosen.end):
            raise self._refusal()
        if is_retracted(self.text, chosen.end) or self._is_labelled_again(chosen):
            raise self._refusal()
        value: Value = chosen.value
        return value

    def _refusal(self) -> Refusal:
        return Refusal(Failure.UNPARSABLE, self._form.unclear)

    def _is_open(self, stated: Stated) -> bool:
        return any(each.start <= stated.start < each.end for each in self._open)

    def _is_labelled_again(self, chosen: Stated) -> bool:
        """Says whether a later line begins with a firm label and says something else."""
        for start, end in self._lines:
            if start > chosen.end:
                label = _LABELLED.match(self.text, start, end)
                if label and _is_firm(label) and not label["is"]:
                    return True
        return False

    def _in_prose(self) -> Iterator[Stated]:
        values = [
            (match, value) for match in _DOUBLE.finditer(self.text) if (value := self._read(match[1])) is not None
        ]
        for match, value in values[:-_MAX_WEIGHED]:
            yield Stated(match.start(), match.end(), value, clear=False)
        for match, value in values[-_MAX_WEIGHED:]:
            clause, sentence = self._clause_before(match.start()), self._sentence_before(match.start())
            after = self.text[match.end() : match.end() + 40]
            own = _MAY_CONSIDER.sub(" ", clause)
            clear = self._is_announced(clause, match) and not (
                NOT_MEANT.search(own)
                or _REJECTED.search(own)
                or _EXAMPLE.search(clause)
                or _is_spoken(own, clause)
                or _CONDITION.match(sentence)
                or _TAKEN_BACK.match(after)
                or self._is_of_others(match.start(), sentence)
            )
            harmless = _NEGATED.search(clause) is not None or (
                _OF_OTHERS.search(sentence) is not None and not _FIRST_PERSON.search(sentence)
            )
            if self._form.is_number and _OF_PROGRAM.search(clause) and not _RATES.search(clause):
                harmless = True
            yield Stated(match.start(), match.end(), value, clear=clear, harmless=harmless)

    def _behind_labels(self) -> Iterator[Stated]:
        for start, end in self._lines:
            for label in _LABEL_INSIDE.finditer(self.text, start, end):
                stated = self._behind(label, end)
                if stated and stated.value is not UNREADABLE:
                    clause = self._clause_before(label.start())
                    is_clear = not (
                        NOT_MEANT.search(clause) or _SPOKEN.search(clause) or _TAKEN_BACK.match(self.text, stated.end)
                    )
                    yield stated._replace(firm=False, clear=is_clear)

    def _is_announced(self, clause: str, match: re.Match[str]) -> bool:
        """Says whether a sentence presents a value as the judge's own, or consists of nothing else."""
        ends = _ENDS.match(self.text, match.end())
        if ends is None:
            return False
        label = _LABELLED.fullmatch(clause.lstrip(" \t\n|"))
        if label or (_RATING_ANNOUNCED if self._form.is_number else _VERDICT_ANNOUNCED).search(clause):
            return not (label and self._is_other_label(label))
        if _CONNECTIVES.fullmatch(clause):
            return ends["more"] is None
        line, _, below = self.text[match.end() :].partition("\n")
        is_last = not (line.strip(" \t|\"'") or any(map(str.isalnum, below)))
        return is_last and not self._form.is_number and not clause.rstrip().endswith(":")

    def _is_of_others(self, position: int, sentence: str) -> bool:
        """Says whether the beginning of a line, or the line above, presents a value as part of another text."""
        number = bisect_right(self._starts, position) - 1
        start, _ = self._lines[number]
        if not self.text[start:position].strip() and self._is_presented(
            number, needs_end=number != self._last, blank_ends=False
        ):
            return True
        sentence = sentence.lstrip()
        if self._form.is_number and _THIRD.match(sentence) and not _FIRST_PERSON.match(sentence):
            return True
        return _OTHER_JUDGE.match(self.text, start, position) is not None

    def _is_other_label(self, label: re.Match[str]) -> bool:
        """Says whether a label announces something else than a rating where one is asked for."""
        return self._form.is_number and _NO_RATING.search(label[0].rstrip(' \t:=|("')) is not None

    def _clause_before(self, position: int) -> str:
        context = self.text[max(0, position - _MAX_CONTEXT) : position]
        example = _EXAMPLE.search(context)
        ends = [match.end() for match in _CLAUSE_END.finditer(context)]
        return context[min(ends[-1], example.start() if example else len(context)) :] if ends else context

    def _sentence_before(self, position: int) -> str:
        context = self.text[max(0, position - _MAX_CONTEXT) : position]
        return _SENTENCE_END.split(context)[-1]

    def _in_firm_places(self) -> Iterator[Stated]:
        last = self._last
        for number, (start, end) in enumerate(self._lines):
            label = _LABELLED.match(self.text, start, end)
            if label and self._is_other_label(label):
                continue
            below = _LABEL_ALONE.fullmatch(self._line(number - 1)) if number else None
            if label and label.end() < end:
                if stated := self._behind(label, end):
                    yield from self._weighed(stated, number, in_brackets=self.text[stated.start] == "[")
                continue
            line = _ALONE.fullmatch(self._line(number))
            if line and (below or number == last):
                alone = self._whole(line["value"], bare=below is None or _is_firm(below))
                if alone:
                    place = start + line.start("value"), start + line.end("value")
                    yield from self._weighed(Stated(*place, alone[0], firm=True), number, in_brackets=not alone[1])

    def _line(self, number: int) -> str:
        """Returns a line, or nothing if it is too long for a value or a label."""
        start, end = self._lines[number]
        return self.text[start:end] if end - start <= _MAX_LINE else ""

    def _behind(self, label: re.Match[str], end: int) -> Stated | None:
        """Reads the value directly behind a label."""
        position = label.end()
        brackets = _DOUBLE.match(self.text, position, end) or _SINGLE.match(self.text, position, end)
        if brackets:
            value = self._read(brackets[1])
            if value is None:
                is_form = _PLACEHOLDER.fullmatch(brackets[1].strip()) or brackets[0][1] != "["
                return None if is_form else Stated(position, brackets.end(), UNREADABLE, firm=True)
            return Stated(position, brackets.end(), value, firm=True)
        if not _is_firm(label):
            return None
        rest = self.text[position : min(end, position + _MAX_BARE)]
        for stop in _TERMINATOR.finditer(rest):
            value = self._read(rest[: stop.start()])
            if value is not None:
                another = _TOKEN.match(rest, stop.end()) if stop["more"] else None
                further = _FURTHER.search(rest, stop.end()) if stop["more"] and self._form.is_number else None
                if further or (another and self._read(another[1]) is not None):
                    value = UNREADABLE  # type: ignore[assignment]
                return Stated(position, position + stop.start(), value, firm=True)
        return None

    def _weighed(self, stated: Stated, number: int, *, in_brackets: bool) -> Iterator[Stated]:
        """Yields a value unless it is taken back, or the line above presents it as part of another text.

        One in double brackets is read as part of a sentence then.
        """
        start, _ = self._lines[number]
        if _TAKEN_BACK.match(self.text, stated.end) or self._raw.startswith((" " * 4, "\t"), start):
            return
        if in_brackets and not _ENDS.match(self.text, stated.end):
            return
        if not self._is_presented(number, needs_end=not in_brackets):
            yield stated

    def _is_presented(self, number: int, *, needs_end: bool, blank_ends: bool = True) -> bool:
        """Says whether the line above presents a line as part of another text.

        Args:
            number: number of the line.
            needs_end: whether a line above that does not end a sentence does so too.
            blank_ends: whether a blank line ends a sentence.
        """
        if not number:
            return False
        start, end = self._lines[number - 1]
        above = self._sentence_before(end).rstrip()
        if (
            _CONNECTIVES.fullmatch(above) is not None
            or _LABEL_ALONE.fullmatch(self._line(number - 1)) is not None
            or (_OWN_LEAD.match(above) is not None and not NOT_MEANT.search(above))
        ):
            return False
        raw = self._raw[start:end].strip()
        is_heading = raw.startswith(("#", "- ", "* ", "|")) or raw.endswith("**")
        blank = blank_ends and _is_blank_between(self.text, end, self._starts[number])
        apart = is_heading or blank or above[-1:] in ("", FILLER, *".!?)]")
        return above.endswith((":", ",")) or _FOLLOWS.search(above) is not None or (needs_end and not apart)

    def _whole(self, text: str, *, bare: bool) -> tuple[Any, bool] | None:
        """Reads a text that is nothing but a value; returns it with whether it stands without double brackets."""
        text = text.strip()
        double = _DOUBLE.fullmatch(text)
        match = double or _SINGLE.fullmatch(text)
        if match:
            value = self._read(match[1])
            if value is None:
                return (UNREADABLE, False) if double and not _PLACEHOLDER.fullmatch(match[1].strip()) else None
            return value, double is None
        value = self._read(text) if bare and len(text) <= _MAX_BARE else None
        return None if value is None else (value, True)

    def _read(self, content: str) -> Value | None:
        """Reads the contents of brackets, with or without a label."""
        content = content.strip(" \t*_`\"'")
        label = _LABELLED.match(content)
        return self._form.read(content[label.end() :] if label else content)

    def _without_echoes(self, found: list[Stated]) -> list[Stated]:
        """Drops values that are named in a row as the prompt names them."""
        kept: list[Stated] = []
        run: list[Stated] = []
        for each in found:
            gap = self.text[run[-1].end : each.start][: _MAX_GAP + 1] if run else ""
            if run and (len(gap) > _MAX_GAP or not _JOINED.fullmatch(gap)):
                kept += self._own(run)
                run = []
            run.append(each)
        return kept + self._own(run)

    def _own(self, run: list[Stated]) -> list[Stated]:
        values = [each.value for each in run]
        return [] if len(set(values)) == len(values) and frozenset(values) in self._form.listed else run


def _is_spoken(own: str, clause: str) -> bool:
    """Says whether a clause reports what others say; words of the judge itself begin with the judge."""
    spoken, first = _SPOKEN.search(own), _FIRST_PERSON.search(clause)
    return spoken is not None and (first is None or spoken.start() < first.start())


def _is_firm(label: re.Match[str]) -> bool:
    return bool(label["firm"] or label["chinese"] or label["overall"])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _is_blank_between(text: str, start: int, end: int) -> bool:
    return text.count("\n", start, end) > 1
