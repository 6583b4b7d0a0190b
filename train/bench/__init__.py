"""What ``lupai bench`` measures: our own loops, those of peers, and how cost grows."""
