"""The conformance suite: one call tells whether an environment keeps the rules of this suite.

``check_environment`` needs neither pytest nor any other test tool, so that authors of environments elsewhere can use it.
"""

from llmarena_envs.testing.check import RULES, check_environment
from llmarena_envs.testing.trial import ConformanceError

__all__ = ["RULES", "ConformanceError", "check_environment"]
