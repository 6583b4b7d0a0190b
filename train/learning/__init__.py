"""Networks and figures that exist while learning only, whichever trainer learns; needs no Ray."""
