"""Deep Monte Carlo: what moves are worth, learned from the scores of whole hands; needs no Ray."""

import os

# As for RLlib: more than one OpenMP thread makes small batches many times slower as soon as another
# process runs; it must be said before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
