"""Self-play training on RLlib: env, module, learner, callbacks."""

import os

# More than one OpenMP thread makes small batches 10 times slower as soon as another process runs;
# it must be said before torch is imported. Remote runners get the same from Ray.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
