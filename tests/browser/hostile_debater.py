"""Players of debates who write markup, marks of bidirectional text and a megabyte."""

from tests.browser.stories_env import LONG, MARKUP, REORDERED


def debater():
    text = f"{MARKUP} {REORDERED}"
    actions = "".join(f"<{action}>{text}</{action}>" for action in ("respond", "criticize"))
    return lambda observation: f"{actions}<raise>{text} {LONG}</raise>"


def judge():
    return lambda observation: f"{MARKUP} {REORDERED} {MARKUP} [[B]]"
