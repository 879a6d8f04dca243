"""What a process needs to run Voilà, which is installed beside the environment.

`.ci/env` puts it into `.venv/voila`; without the environment below no lab has its button or its
handlers. Run it by itself (`python -m voila NOTEBOOK`): its server half is left out on purpose.
"""

import os
import sys
from pathlib import Path

VOILA = Path(sys.prefix, "voila")


def voila_environment() -> dict[str, str]:
    """The variables with which `python -m voila` is found, and finds its templates."""
    assert VOILA.is_dir(), f"{VOILA} is missing: run .ci/env"
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(VOILA), os.environ.get("PYTHONPATH")])),
        "JUPYTER_PATH": str(VOILA / "share" / "jupyter"),
    }
