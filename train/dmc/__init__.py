"""Deep Monte Carlo: what moves are worth, learned from the scores of whole hands; needs no Ray."""
