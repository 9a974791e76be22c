"""No-limit Texas hold'em."""
