"""First-price sealed-bid auction, version 0; see ``llmarena_envs.bid.env``."""

from llmarena_envs.bid.env import env, parallel_env, raw_env

__all__ = ["env", "parallel_env", "raw_env"]
