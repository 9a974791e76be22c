"""Simulation, version 0; see ``llmarena_envs.simulation.env``."""

from llmarena_envs.simulation.env import env, raw_env

__all__ = ["env", "raw_env"]
