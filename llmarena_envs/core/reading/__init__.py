"""Steps of parsing a reply, one file each; `llmarena_envs.core.replies` combines them."""
