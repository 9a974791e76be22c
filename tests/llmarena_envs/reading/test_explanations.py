"""What follows a stated move as explanation does not change it: the move is read, or the reply refused; never another move."""

from itertools import product

import pytest

from llmarena_envs.core.failures import InvalidReply
from tests.llmarena_envs.reading.cases import CASES, Case, parse

# §S is the published form, §V its value, §L its label, §J the object; §C is another legal statement of the same player, §D its
# value, §O a statement in another seat's name.
STATED = (
    *("§S", "**§S**", "<answer>§S</answer>", "Final answer: §S", "答案：§S", "§J", "```json\n§J\n```", "\\boxed{§S}"),
    *("```\n§S\n```", "> §S", "- §S", "§V", "**§L:** §V", "I have thought about it.\n\n§S", "My move: §S", "§S</s>"),
)
# Texts below a statement; a line holds one, with \n for the ends of lines in it.
BELOW = r"""
Reason: §C would lose.
Reason: §C
Reasoning: §C was my first thought.
Because §C is worse.
because §C is worse
I chose this over §C.
I chose this because §C is risky.
This is better than §C.
§C was also possible.
§C is weaker.
§C also works.
§C comes second.
I also considered §C
I also considered §C.
I also considered:\n§C
I considered §C, but it is worse.
Another option was §C.
Another option: §C
Other candidates were §C and more.
Backup plan: §C
Plan B: §C
Plan for later:\n§C
My plan is §C next.
Next turn: §C
Next turn I play §C.
Next: §C
Then: §C
Then I will play §C.
After that, §C
After their reply:\n§C
In the next round:\n§C
Next round I will do this:\n§C
Later I will do:\n- §C
Follow-up: §C
Follow-up plan:\n1. §C\n2. something
Steps:\n1. this one\n2. §C
1. §C
- §C
* §C
2. §C
1. This blocks.\n2. §C is weaker.
Expected reply: §O
Expected reply: §O\nthen §C
Expected line:\n§O\n§C
Expected continuation: §O, §C
Continuation:\n§O\n§C
Likely: §O
Opponent: §O
They may answer §O and I go §C.
If they answer §O, I answer §C.
If they answer §O:\n§C
If not, §C.
Otherwise: §C
Otherwise §C
Else: §C
Confidence: 80%
Confidence: 4/7
Confidence level: 7
Confidence (1-10): 3
confidence = 5
Certainty: high
Score: 5
Rating: 4
Strength: 3
Probability: 0.7
Estimated value: 5
Value: 5
EV: 3
Win rate: 60
Rank: 1
Priority: 2
Evaluation: 5
Depth: 5
Time used: 3
Tokens: 5
Move number: 3
Move 3
Round: 3
Round 2 of 10
Turn 2
Step 2
3
5
7/10
(5)
$5.00
P.S. §C
P.S. §C was my second choice.
PS: §C
P.S.: §C
P.S.\n§C
N.B. §C
Note: §C
Note that §C would lose.
Remark: §C
Comment: §C
FYI §C
Edit: typo fixed.
Best,\nplayer_1
Best regards,\nPlayer 2
— Claude
-- \nGPT-5
Signed, player_1
player_1
player_1: thanks
Yours, player_1
Good luck!
Good luck, player_1!
Thanks!
Your move.
Your turn, player_1.
Rules: §C is an example.
Rules recap: a move is written like this: §C
Rules:\n- §C is legal
As the rules say: §C
Remember the format: §C
Format: §C
The format is: §C
For example: §C
For instance, §C
e.g. §C
Example reply:\n§C
Legal moves: §C, §S
Legal moves:\n§C\n§S
Legal moves were:\n- §C\n- §S
Options were:\n§C
Options:\n1. §C\n2. §S
| move | value |\n|---|---|\n| §C | 3 |
| move | value |\n|---|---|\n| §S | 5 |\n| §C | 3 |
| §C | 3 |
| §C |
Option | Score\n§C | 3
§C: 3 points
§C (second best)
§C - second best
§C → worse
§C = bad
§C ✗
❌ §C
~~§C~~
[§C]
(§C)
(alternatively §C)
(not §C)
not §C
rather than §C
instead of §C
"§C"
'§C'
> §C
```\n§C\n```
```python\nplay("§C")\n```
```python\n# alternatives\nmoves = ["§C"]\n```
```python\nmove = "§C"\n```
```json\n{"alternative": "§C"}\n```
{"reason": "§C"}
{"alternative": "§C", "confidence": 3}
{"next_move": "§C"}
{"rejected": ["§C"]}
{"opponent_move": "§O"}
<reason>§C</reason>
<reasoning>§C</reasoning>
<note>§C</note>
<alternative>§C</alternative>
<think>§C</think>
<thought>§C</thought>
<analysis>\n§C\n</analysis>
<next>§C</next>
<backup>§C</backup>
<opponent>§O</opponent>
Explanation: §C
Explanation:\n§C
Explanation:\n\n§C
**Explanation**\n§C
**Explanation:** I weighed two moves.\n\n§C\n\nwas the other one.
### Why\n§C
Why not the other?\n§C
Why not §C? It is worse.
Why §S? Because §C loses.
What about §C? No.
§C? No.
§C?
§C!?
Had I chosen §C, I would lose.
I could have chosen §C.
I could have played:\n§C
One could also play\n§C
The alternative\n§C\nis worse.
The alternative is §C.
My second choice is §C.
My second choice: §C
Second-best: §C
Second best:\n§C
My first idea was §C.
My first idea:\n§C
My initial idea: §C
Earlier I wrote §C.
Previously: §C
Last turn: §C
Last round I chose\n§C
History: §C
History:\n§C\n§O
Moves so far: §C
Board after it:\n§C
Summary: §C loses, mine wins.
Summary:\n§C loses.
In short, not §C.
In conclusion, §C is not as good.
To sum up: unlike §C, it holds.
Conclusion: better than §C.
Verdict: better than §C.
Result: beats §C.
Final thoughts: §C was close.
Final remark: §C
Final note: §C
Final confidence: 5
Final score: 5
My reply beats §C.
Answer to your question: §C
The answer to that would be §C.
Best answer for you: §O
Best response: §C
Best reply: §O
Your best reply: §C
Response: §C
Reply: §C
User: §C
Human: §C
Host: §C
System: §C
Question: §C
Q: What about this?\nA: §C
Action 2: §C
Action next turn: §C
Move 2: §C
Next action: §C
Next move: §C
My next move: §C
Future move: §C
Second move: §C
Alternative action: §C
Alternative answer: §C
Alternate: §C
Fallback: §C
Contingency: §C
Hypothetical: §C
Variation:\n§C
Variant: §C
Line B: §C
Option B: §C
B) §C
b. §C
(b) §C
A: §C
理由：§C 不好
理由：§C
因为 §C 不好。
我也考虑过 §C。
我也考虑过：\n§C
其次是 §C
其次：§C
备选：§C
备选方案：\n§C
另一个选择：§C
另一种走法：§C
下一步：§C
下一步我会：\n§C
下一手：§C
接下来：§C
之后：§C
然后 §C
后续计划：§C
后续：\n§C
对手可能：§O
对方回应：§O
预计：§O
如果不行就 §C
否则：§C
否则 §C
信心：7
信心指数：5
置信度：5
置信度：80%
把握：3
评分：5
胜率：60
第 3 回合
第3轮
附：§C
附注：§C
注：§C
备注：§C
注意：§C 不合法
说明：§C
说明：\n§C
分析：§C
分析如下：\n§C
总结：§C 不如它
补充：§C
补充说明：\n§C
例如：§C
规则：§C
格式：§C
上一步：§C
不是 §C
不选 §C
而不是 §C
祝你好运！
轮到你了。
谢谢！
此致\n玩家一
—— 玩家 2
Not §D.
§D was close.
I also considered §D.
Alternative: §D
Next turn: §D
Next turn:\n§D
Alternatives:\n§D
Second choice:\n§D
- §D
1. §D
(§D)
| §D |
理由：§D 不好
备选：§D
下一步：§D
{"alternative": "§D"}
```\n§D\n```
<note>§D</note>
Then §D
Why not §D?
§D?
§D would lose.
Plan:\n1. §D
Over:\n§D
Compared to:\n§D
Better than\n§D
Runner-up\n§D
I rejected\n§D
Threat:\n§D
It threatens §C.
It threatens:\n§C
It prepares §C
It prepares\n§C
This sets up §C next.
This sets up\n§C
blocks §O
It blocks\n§O
It keeps §C for later.
It leaves\n§C
So next time §C
So that §C is possible.
so that later §C
which allows §C
and then §C
"""
# Texts on the line of a statement; a free text takes them as a part of itself.
BESIDE = r"""
（不选 §C）
（备选 §C）
, then §C
; then §C
 and then §C
 (then §C)
 then §C
 - not §C
 — not §C
 (not §C)
 (I also considered §C)
 because §C loses
 since §C is worse
, not §C
; not §C
. Not §C.
. I also considered §C.
. Next: §C
. Next turn: §C
. Expected reply: §O.
. Expected reply: §O, then §C.
. Alternative: §C
. Confidence: 5
 (confidence: 5)
 [confidence 5]
 # not §C
 // not §C
 <!-- §C -->
 | §C
 || §C
 / §C
 vs. §C
 > §C
 >> §C
 beats §C
 over §C
 instead of §C
 rather than §C
 unlike §C
 better than §C
（不选 §C）
，不选 §C
，因为 §C 不好
。下一步 §C
。下一步：§C
。我也考虑过 §C
。备选：§C
 P.S. §C
 (P.S. §C)
 confidence 5
 with confidence 5
, confidence 5
, score 3
 =5
 5
 (5)
 5/10
 80%
 [3]
 *3
 x3
 x 3
"""
REPRESENTATIVES = tuple({case.position: number for number, case in enumerate(CASES)}.values())


def _lines(texts: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in texts.split("\n") if line]


AFTER = [gap + text for text in _lines(BELOW) for gap in ("\n", "\n\n")]
ALL = list(product(STATED, AFTER + _lines(BESIDE)))


def _filled(form: str, case: Case) -> str:
    pieces = {"§S": case.statement, "§V": case.value, "§L": case.label, "§J": case.json, "§C": case.considered}
    pieces |= {"§D": case.considered.partition(":")[2].strip(), "§O": case.other}
    for mark, piece in pieces.items():
        form = form.replace(mark, piece)
    return form


def _played(case: Case, form: str) -> object:
    """Returns what a reply is read as, without the message before a plan and the guesses behind a vote; ``None`` if refused."""
    try:
        action = parse(case, _filled(form, case))
    except InvalidReply:
        return None
    return action.split("\n")[-1 if case.game.startswith("bargain") else 0] if isinstance(action, str) else action


def _check(number: int, replies: list[tuple[str, str]]) -> None:
    case = CASES[number]
    stated = _played(case, "§S")
    assert stated is not None
    refused = 0
    for form, after in replies:
        if case.free and (form == "§V" or not after.startswith("\n")):
            continue
        if case.position == "ruling" and form.startswith(">"):  # a judge quotes with it
            continue
        played = _played(case, form + after)
        assert played in (None, stated), form + after
        refused += played is None
    assert refused <= 0.25 * len(replies)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case.position} {case.value}" for case in CASES])
def test_an_explanation_never_changes_the_stated_move(number: int) -> None:
    _check(number, ALL[number % 11 :: 11])


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("number", REPRESENTATIVES, ids=[CASES[number].position for number in REPRESENTATIVES])
def test_an_explanation_before_the_move_never_changes_it(number: int) -> None:
    _check(number, [(text, f"\n\n{form}") for form, text in product(STATED[:8], _lines(BELOW)[number % 11 :: 11])])
