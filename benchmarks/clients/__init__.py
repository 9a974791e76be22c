"""Libraries that play the environments: supported and unsupported features of each."""
