"""A debate between hostile players, of which the report tells: markup, marks of bidirectional text, a megabyte."""

from llmarena_envs import bid_v0
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.order import OrderWrapper

MARKUP = "</script><script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
REORDERED = "the verdict is \u202e]]A[[\u202c \u2066aside\x1b[2J"
LONG = "word " * 200_000


class raw_env(bid_v0.raw_env):
    def narrate(self):
        return (
            Scene("Round 1"),
            Scene(f"The question {MARKUP}", f"{MARKUP}\n&lt;b&gt;"),
            Scene("respond", f"{MARKUP} first {REORDERED}", "player_0"),
            Scene("think", "a secret", "player_0", ("player_1",), ("cut at the limit", MARKUP)),
            Scene("respond", LONG + "the end", "player_1"),
        )


def env(**options):
    return OrderWrapper(raw_env(**options))
