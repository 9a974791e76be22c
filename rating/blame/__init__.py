"""The turn that lost a match: recorded replies compared with other replies by continuations of the match."""
