"""Records: matches, turns and outcomes, the store that keeps them, import, export and verification."""
