"""``python -m lupai.train.cli``: the command ``lupai`` where scripts are not on the path."""

import sys

from lupai.train.cli import main

sys.exit(main())
