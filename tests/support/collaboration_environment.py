"""What a server needs to have jupyter-collaboration, which is installed beside the environment.

`.ci/env` puts it into `.venv/collab`; without the environment below a server knows nothing of it.
"""

import os
import sys
from pathlib import Path

COLLAB = Path(sys.prefix, "collab")


def collab_environment() -> dict[str, str]:
    """The variables with which a server, its pages and its kernels find it."""
    assert COLLAB.is_dir(), f"{COLLAB} is missing: run .ci/env"
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(COLLAB), os.environ.get("PYTHONPATH")])),
        "JUPYTER_PATH": str(COLLAB / "share" / "jupyter"),
        "JUPYTER_CONFIG_PATH": str(COLLAB / "etc" / "jupyter"),
    }
