"""The steps of reading a reply, each in a file of its own; `llmarena_envs.core.replies` puts them together."""
