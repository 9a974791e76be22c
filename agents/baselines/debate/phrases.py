"""Phrases of scripted debate policies, in English and Chinese.

The sentences fit any question: words of the question are inserted. A *point* is a line that begins with ``MARK``; scripted judges
measure the quality of an answer by the number of its points.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from llmarena_envs.core.text_length import WordCounter

MARK = "- "
"""Beginning of a line with a point."""

_CHINESE = re.compile("[\u4e00-\u9fff]")
_TERM = re.compile("[^\\W\\d_\u4e00-\u9fff]{5,24}|[\u4e00-\u9fff]{2}")
_IDLE = (
    *("about", "after", "again", "answer", "before", "being", "between", "could", "doing", "during", "every"),
    *("explain", "first", "given", "having", "might", "other", "please", "question", "shall", "should", "since"),
    *("their", "there", "these", "those", "three", "through", "under", "until", "using", "where", "which", "while"),
    *("whose", "within", "without", "would", "write"),
)
_COUNTERS = {language: WordCounter(language) for language in ("en", "zh")}
_MAX_TERMS = 60
_READ = 4_000


@dataclass(frozen=True)
class Phrases:
    """The sentences of one language; ``{term}`` is replaced by a word of the question.

    Attributes:
        language: of the sentences.
        opening: beginning of an answer.
        points: sentences of points.
        remarks: sentences between points, of similar length, without a word of the question.
        criticism: of the opponent's answer.
        follow_up: a question to the opponent.
        thought: a debater's thought before making ``{count}`` points.
        asides: off-topic sentences.
        padding: meaningless sentences.
        signature: signature of a ``{family}``.
        anything: topic if the question has no words.
        counted: a judge's reasons with the numbers of points ``{a}`` and ``{b}``.
        plain: a judge's reasons without content.
        kept: a judge's reasons for keeping its verdict.
        changed: a judge's reasons for changing its verdict.
    """

    language: str
    opening: str
    points: Sequence[str]
    remarks: Sequence[str]
    criticism: str
    follow_up: str
    thought: str
    asides: Sequence[str]
    padding: Sequence[str]
    signature: str
    anything: str
    counted: str
    plain: str
    kept: str
    changed: str


ENGLISH = Phrases(
    language="en",
    opening='My answer rests on what is asked about "{term}".',
    points=(
        'What is asked about "{term}" is answered here, with a reason.',
        'For "{term}" this is the step that decides.',
        'An example makes "{term}" clear.',
        'The limits of "{term}" are stated, none is hidden.',
        'Checked once more, what is said of "{term}" holds.',
        'Without "{term}" the rest would not follow.',
    ),
    remarks=(
        "This has often been said, and I say it here too.",
        "One may look at it in more ways than this one.",
        "So much for that; now for what comes next.",
        "People who know about such matters tend to agree.",
        "That alone would not be enough, of course.",
        "We shall come back to it in a moment.",
    ),
    criticism='Your answer passes over "{term}", and it gives no reason for what it says of it.',
    follow_up='What would have to change in your answer if "{term}" were left out?',
    thought="This turn has room for {count} of my points.",
    asides=(
        "The weather has been mild for weeks, and the garden is ahead of the season.",
        "A good soup takes patience, and so does a good stew.",
        "Trains used to be slower, but the seats were softer.",
        "My neighbour has painted the fence green.",
    ),
    padding=(
        "It should be said in this place, as has been said before, that there is more to be said.",
        "All of this is, all things taken together, of the very kind that one finds in such cases.",
        "In other words, and to put the same thing once again, it is as it has been put above.",
        "One could go on at length about this, and in a certain sense one perhaps even should.",
    ),
    signature="So it is done in the {family} family.",
    anything="the question",
    counted="I find {a} on the side of A and {b} on the side of B.",
    plain="I have read both sides.",
    kept="Having read the others I keep my verdict.",
    changed="The others have convinced me.",
)

CHINESE = Phrases(
    language="zh",
    opening="我的回答以题中的“{term}”为依据。",
    points=(
        "关于“{term}”的部分，这里作了回答并说明了理由。",
        "就“{term}”而言，这一步最为关键。",
        "举例来说，“{term}”就清楚了。",
        "“{term}”的局限也已说明，没有隐瞒。",
        "再核对一遍，“{term}”这一点成立。",
        "离开“{term}”，其余便无从谈起。",
    ),
    remarks=(
        "这一点前人已经说过许多次，我在这里也要再说一遍。",
        "如果换一个角度来看，也未尝不可以这样去理解。",
        "以上的话先说到这里，下面再接着往下说。",
        "凡是熟悉这类事情的人，看法大多都很相近。",
        "当然，仅仅凭着这样一些还远远不够。",
        "稍后我们还会再回到这里来。",
    ),
    criticism="你的回答略过了“{term}”，所说的也没有给出理由。",
    follow_up="如果去掉“{term}”，你的回答要改动哪里？",
    thought="这一轮我要说{count}个要点。",
    asides=(
        "这几个星期天气一直暖和，园子里的花开得早。",
        "煲汤要有耐心，炖菜也是一样。",
        "从前的火车慢一些，座位却软一些。",
        "邻居把篱笆漆成了绿色。",
    ),
    padding=(
        "在此应当说明，正如前面已经说过的那样，可说的还有很多。",
        "总而言之，凡此种种，都属于这类情形中常见的那一种。",
        "换句话说，把同样的意思再说一遍，也就是上面说过的那样。",
        "对此可以长篇大论，而且在某种意义上也许还应当如此。",
    ),
    signature="{family}一家向来如此作答。",
    anything="此题",
    counted="我看到甲方A有{a}，乙方B有{b}。",
    plain="双方的发言我都读过了。",
    kept="读过其他评委的意见，我维持原判。",
    changed="其他评委说服了我。",
)


def is_chinese(text: str) -> bool:
    """Returns whether a text holds Chinese characters."""
    return _CHINESE.search(text) is not None


def phrases_for(question: str) -> Phrases:
    """Returns the phrases in the language of a question."""
    return CHINESE if is_chinese(question) else ENGLISH


@lru_cache(maxsize=512)
def terms(question: str) -> tuple[str, ...]:
    """Returns the longer words of a question, or its pairs of Chinese characters, each once, in order; at least one."""
    found = dict.fromkeys(_TERM.findall(question[:_READ].casefold()))
    return tuple(term for term in found if term not in _IDLE)[:_MAX_TERMS] or (phrases_for(question).anything,)


def count_points(text: str) -> int:
    """Returns the number of points in a text."""
    return text.startswith(MARK) + text.count(f"\n{MARK}")


@lru_cache(maxsize=512)
def count_words(text: str) -> float:
    """Returns the length of a text in words of its language, as in debate budgets."""
    counter = _COUNTERS[phrases_for(text).language]
    return counter.words(counter.length(text))


def sign(question: str, family: str) -> str:
    """Returns the signature of a family, in the language of a question."""
    return phrases_for(question).signature.format(family=family)
