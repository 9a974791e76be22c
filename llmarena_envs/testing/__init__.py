"""The conformance suite: one call checks an environment against its rules.

``check_environment`` does not need pytest or any other test tool, so authors of external environments can use it.
"""

from llmarena_envs.testing.check import check_environment
from llmarena_envs.testing.rules import NEED_RESAMPLE, RULES
from llmarena_envs.testing.trial import ConformanceError

__all__ = ["NEED_RESAMPLE", "RULES", "ConformanceError", "check_environment"]
