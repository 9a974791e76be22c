"""What the calls of models cost: prices, and the sums of what was used."""
