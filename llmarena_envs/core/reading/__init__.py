"""Steps of parsing a reply; `llmarena_envs.core.replies` combines them."""
