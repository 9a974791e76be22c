"""Public goods, version 0; see ``llmarena_envs.public_goods.env``."""

from llmarena_envs.public_goods.env import env, parallel_env, raw_env

__all__ = ["env", "parallel_env", "raw_env"]
