"""Writer and editor, version 0; see ``llmarena_envs.writer_editor.env``."""

from llmarena_envs.writer_editor.env import env, raw_env

__all__ = ["env", "raw_env"]
