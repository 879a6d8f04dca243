"""Find LibreOffice for the tests of Word documents, or install its writer without windows.

Run by `make test` with the environment's Python. Fails without it, because these tests are never
skipped.
"""

import os
import shutil
import subprocess
import sys

PACKAGE = "libreoffice-writer-nogui"
SECONDS = 1_200
HELP = """
No LibreOffice was found, and none could be installed. Install it with your system's package manager
(Debian: apt-get install libreoffice-writer-nogui; macOS: brew install --cask libreoffice), so that
soffice is on PATH, then run make test again.
"""


def found() -> bool:
    """Return whether there is a LibreOffice."""
    return bool(shutil.which("soffice") or shutil.which("libreoffice"))


def install() -> bool:
    """Install the distribution's package, if apt-get is available to us."""
    if shutil.which("apt-get") is None:
        return False
    print(f"== no LibreOffice here: apt-get install {PACKAGE}", flush=True)
    apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q"]
    if os.geteuid() != 0:
        apt_get = ["sudo", "-n", *apt_get]
    steps = (["update"], ["install", "--no-install-recommends", PACKAGE])
    try:
        return all(
            subprocess.run(
                [*apt_get, *step], stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
            ).returncode
            == 0
            for step in steps
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"apt-get: {error}", file=sys.stderr)
        return False


if __name__ == "__main__" and not (found() or (install() and found())):
    sys.exit(HELP)
