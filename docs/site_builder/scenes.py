"""Content of the documentation's pictures: an animated match, a match in the browser, the runs of the board and the report."""

MOVING_POLICIES = {"player_0": "greedy", "player_1": "minimax"}
MOVING_SEED = 0

OPPONENT = "minimax"
MOVES = ("X: 4", "X: 3", "X: 5", "X: 2", "X: 4", "X: 1")
"""Replies, move by move, before the picture of a match in the browser is taken."""

_POOL = """
[[policy]]
spec = "minimax:depth=2"
[[policy]]
spec = "minimax:depth=1"
[[policy]]
spec = "greedy"
[[policy]]
spec = "first_legal"
[[policy]]
spec = "random"
"""

BOARD_RUN = f"""
seed = 1
workers = 1
[stop]
min_matches = 100
max_matches = 100
[[environment]]
name = "connect_four_v0"
{_POOL}
[[policy]]
name = "Ada"
spec = "human"
"""

REPORT_RUN = f"""
seed = 1
workers = 1
[stop]
min_matches = 60
max_matches = 60
[[environment]]
name = "connect_four_v0"
{_POOL}
"""
SHOWN_TURN = 12
"""After which the position of its longest match is shown."""

TABS_RUN = """
seed = 1
workers = 1
[stop]
min_matches = 60
max_matches = 60
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "debate_v0"
options = {{ n_judges = 3, discussion = false }}
staff = {{ judge = ["honest", "length", "constant"] }}
tournament = {{ questions = 4 }}
[[policy]]
spec = "minimax"
environments = ["tictactoe_v0"]
[[policy]]
spec = "greedy"
environments = ["tictactoe_v0"]
[[policy]]
spec = "random"
[[policy]]
name = "echo"
spec = "openai:echo:base_url={address}"
environments = ["tictactoe_v0"]
[[policy]]
spec = "debater"
environments = ["debate_v0"]
[[policy]]
spec = "verbose"
environments = ["debate_v0"]
[[policy]]
spec = "off_topic"
environments = ["debate_v0"]
[[price]]
model = "echo"
input = 2
output = 8
currency = "USD"
"""
"""A run whose report has every tab; ``echo`` is a server at ``{address}`` that always replies ``ECHO``."""

ECHO = "X: (2, 2)"
