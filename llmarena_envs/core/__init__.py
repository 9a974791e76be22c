"""What all environments share: the game contract, the PettingZoo base class, text spaces, prompts and messages."""
