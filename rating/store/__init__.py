"""Records of matches, turns and outcomes: store, import, export and verification."""
