"""`python -m synapse`: the command line."""

import sys

from synapse.cli import main

sys.exit(main())
