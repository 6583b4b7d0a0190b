"""Two Ray nodes on this machine, and ``lupai`` on them: ``python -m tests.train.cluster WORDS``."""

import sys

from ray.cluster_utils import Cluster

from lupai.train.cli import main

if __name__ == "__main__":
    node = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
        code = main([*sys.argv[1:], "--address", cluster.address])
    finally:
        cluster.shutdown()
    sys.exit(code)
