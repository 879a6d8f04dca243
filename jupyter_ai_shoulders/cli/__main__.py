"""``python -m jupyter_ai_shoulders.cli`` is ``jupyter shoulders``."""

import sys

from jupyter_ai_shoulders.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
