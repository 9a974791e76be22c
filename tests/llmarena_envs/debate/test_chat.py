"""The debate in native roles, as debaters and judges that are models read it."""

import pytest

from tests.llmarena_envs.debate.matches import QUESTION, debated, say, started, turn_text

ASKED = f"The user asks:\n> {QUESTION}"


def chat(env, agent=None):
    found = env.codec.chat(env.view(agent or env.agent_selection))
    return None if found is None else [tuple(message) for message in found]


def told(round, *actions, side):
    """Returns how a debater reads the opponent's words."""
    past = {"respond": "responded", "criticize": "criticized", "raise": "raised"}
    return "\n\n".join(
        f"Round {round}, your opponent {past[action]}:\n> I {action} {side}{round}" for action in actions
    )


def gave(round, *actions, side):
    """Returns an own turn."""
    said = "\n".join(f"<{action}>I {action} {side}{round}</{action}>" for action in actions)
    return f"<think>{side} plots {round}</think>\n{said}"


def task(message):
    """Returns the elements that the guide at the end of a message asks for."""
    return [line.split(">")[0][1:] for line in message.split("Action guide for this turn:\n")[1].split("\n")[1:-1]]


def played(opener="A", **options):
    """Plays a debate and returns the environment and the chats of each side, in the order of its turns."""
    env, chats = started(n_judges=2, round3_opener=opener, **options), {"A": [], "B": []}
    while env.view(env.agent_selection).stage == "debate":
        view = env.view(env.agent_selection)
        chats[view.side].append(chat(env))
        say(env, f"<think>{view.side} plots {view.round}</think>{turn_text(env)}")
    return env, chats


def words_of(messages):
    """Returns the messages behind the rules, without the guides."""
    return [content.split("Action guide for this turn:")[0].rstrip() for _, content in messages[1:]]


C, R, W = "respond", "criticize", "raise"
A_SAID = [
    ASKED,
    gave(1, C, side="A"),
    told(1, R, W, side="B"),
    gave(1, C, side="A"),
    told(2, C, side="B"),
    gave(2, R, W, side="A"),
    told(2, C, side="B"),
    gave(3, R, W, side="A"),
    told(3, C, R, W, side="B"),
]
B_SAID = [
    f"{ASKED}\n\n{told(1, C, side='A')}",
    gave(1, R, W, side="B"),
    told(1, C, side="A"),
    gave(2, C, side="B"),
    told(2, R, W, side="A"),
    gave(2, C, side="B"),
    told(3, R, W, side="A"),
]


def test_debater_chat_has_own_turns_and_new_opponent_text():
    env, chats = played()
    assert [words_of(each) for each in chats["A"]] == [A_SAID[: 2 * number + 1] for number in range(5)]
    first, fresh, *later = chats["B"]
    assert words_of(first) == B_SAID[:1]
    assert words_of(fresh) == [ASKED]
    assert [words_of(each) for each in later] == [B_SAID[:5], B_SAID[:7]]
    for side in "AB":
        rules = env.codec.rules(env.game.sides["AB".index(side)])
        for messages in chats[side]:
            assert messages[0] == ("system", rules)
            assert [role for role, _ in messages[1:]] == ["user", *["assistant", "user"] * (len(messages) // 2 - 1)]


def test_chat_grows_at_its_end_but_for_the_fresh_turn():
    _, chats = played()
    for side in "AB":
        fresh = [messages for messages in chats[side] if messages != chats[side][-1][: len(messages)]]
        assert [words_of(messages) for messages in fresh] == ([[ASKED]] if side == "B" else [])


@pytest.mark.parametrize("opener", ["A", "B"])
def test_chat_repeats_the_guide_of_each_turn(opener):
    _, chats = played(opener, words=40)
    sent = {side: [each[-1][1].split("Action guide")[1] for each in chats[side]] for side in "AB"}
    for side in "AB":
        last = [content.split("Action guide")[1] for role, content in chats[side][-1] if role == "user"]
        assert last == sent[side]
    assert [task(each[-1][1]) for each in chats["A" if opener == "B" else "B"]][-1] == [C, R, W]
    long = chats["A" if opener == "B" else "B"][-1][-1][1]
    assert "80 words" in long and long.count("40 words") == 0


@pytest.mark.parametrize("visibility", ["paper", "restricted"])
@pytest.mark.parametrize("judge_sees_think", [True, False])
def test_chat_never_holds_thoughts_of_the_opponent(visibility, judge_sees_think):
    env, chats = played(visibility=visibility, judge_sees_think=judge_sees_think)
    for side, other in ("AB", "BA"):
        text = str(chats[side])
        assert f"{side} plots 1" in text and f"{other} plots" not in text
        assert (f"I criticize {other}" in text) == (visibility == "paper")
    assert ("plots" in str(chat(env))) == judge_sees_think


def test_chat_holds_own_turns_as_they_were_cut_and_completed():
    env = started(words=10)
    env.step(f"<respond>{'word ' * 30}</respond>")
    env.step("<criticize>no</criticize>")
    assert chat(env)[2] == ("assistant", f"<respond>{'word ' * 10}".rstrip() + "</respond>")
    for _ in range(3):
        say(env, turn_text(env))
    assert chat(env)[2] == ("assistant", "<criticize>no</criticize>\n<raise></raise>")


def test_judge_chat_in_discussion_has_its_first_judgement():
    env = debated(started(n_judges=2))
    observation = env.observe("judge_1")
    first = [("system", observation["rules"]), ("user", observation["text"])]
    assert chat(env, "judge_1") == first
    say(env, "A is shorter. [[A]]", "B gives a reason. [[B]]")
    *earlier, (role, content) = chat(env, "judge_1")
    assert earlier == [*first, ("assistant", "B gives a reason. [[B]]")]
    assert role == "user" and content.startswith("Judge 1's judgement:\n> A is shorter. [[A]]\n\nAbove are")


def test_judge_chat_after_abstention_is_one_prompt():
    env = say(debated(started(n_judges=2)), "abstain", "[[B]]")
    observation = env.observe("judge_0")
    assert chat(env, "judge_0") == [("system", observation["rules"]), ("user", observation["text"])]


def test_chat_of_a_judge_begins_anew_in_the_second_order():
    env = debated(started(n_judges=2, both_orders=True))
    say(env, *["The first order. [[A]]"] * 4)
    assert len(chat(env)) == 2 and "The first order" not in str(chat(env))
    say(env, *["The second order. [[B]]"] * 2)
    assert [role for role, _ in chat(env)] == ["system", "user", "assistant", "user"]
    assert "The first order" not in str(chat(env))


def test_chat_of_a_reference_answer_holds_the_question_alone():
    env = debated(started(questions=[{"id": 1, "domain": "math", "question": "1 + 1?"}], n_judges=1))
    observation = env.observe("judge_0")
    assert chat(env) == [("system", observation["rules"]), ("user", observation["text"])]
    say(env, "Two.")
    assert len(chat(env)) == 2 and "> Two." in chat(env)[1][1]
