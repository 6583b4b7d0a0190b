"""What games of a learner are played on, whichever trainer learns from them; needs no Ray."""
