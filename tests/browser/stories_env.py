"""A debate between hostile players, for transcripts: markup, bidirectional marks, a megabyte of text, a picture."""

from html import escape

from llmarena_envs import bid_v0
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.transcript import Scene

MARKUP = "</script><script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
REORDERED = "the verdict is \u202e]]A[[\u202c \u2066aside\x1b[2J"
LONG = "word " * 200_000


PICTURE = f"""<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="document.title = 'taken over'">
<title>{escape(MARKUP)}</title><desc>\u202e</desc><script>document.title = 'taken over'</script>
<image href="http://127.0.0.1:9/asked" width="9" height="9"/></svg>"""


class HostileDrawing(Drawing):
    def seat(self, view):
        return PICTURE

    def spectator(self, game):
        return PICTURE


class raw_env(bid_v0.raw_env):
    def make_drawing(self):
        return HostileDrawing()

    def transcript(self):
        return (
            Scene("Round 1"),
            Scene(f"The question {MARKUP}", f"{MARKUP}\n&lt;b&gt;"),
            Scene("respond", f"{MARKUP} first {REORDERED}", "player_0"),
            Scene("think", "a secret", "player_0", ("player_1",), ("cut at the limit", MARKUP)),
            Scene("respond", LONG + "the end", "player_1"),
        )


def env(**options):
    return OrderWrapper(raw_env(**options))
