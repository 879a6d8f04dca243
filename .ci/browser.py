"""Find a Chromium for the browser tests, or install one; its path is written to `.venv/browser`.

Run by `make test` with the environment's Python. Fails without a browser, because the browser tests
are never skipped.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

NOTE = Path(sys.prefix, "browser")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-dejavu-core")
DOWNLOAD_SECONDS = 600
PACKAGE_SECONDS = 900
HELP = """
No Chromium was found, and none could be installed. One of these will do:
  - install Chromium or Chrome with your system's package manager (Debian: apt-get install chromium)
  - run .venv/bin/playwright install --with-deps chromium
  - set CHROMIUM to the path of a Chromium or Chrome
then run make test again.
"""


def candidates() -> Iterator[str]:
    """Yield possible browsers: the caller's choice, the last one used, PATH, Playwright's own."""
    yield os.environ.get("CHROMIUM", "")
    yield NOTE.read_text(encoding="utf-8").strip() if NOTE.exists() else ""
    yield from (shutil.which(name) or "" for name in NAMES)
    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def runs(path: str) -> bool:
    """Return whether this is a browser that starts, not a stub that asks for another package."""
    if not path or not Path(path).exists():
        return False
    return succeeds([path, "--version"], seconds=60, quiet=True)


def succeeds(command: list[str], *, seconds: float, quiet: bool = False) -> bool:
    """Run a command with a time limit."""
    output = subprocess.DEVNULL if quiet else None
    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
        return False
    return ran.returncode == 0


def download() -> bool:
    """Download Playwright's own build, if the network permits it."""
    print("== no Chromium here: trying Playwright's download", flush=True)
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return succeeds(command, seconds=DOWNLOAD_SECONDS)


def install_package() -> bool:
    """Install the distribution's package, if apt-get is available to us."""
    if shutil.which("apt-get") is None:
        return False
    print("== trying the system's package manager: apt-get install chromium", flush=True)
    apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q"]
    if os.geteuid() != 0:
        apt_get = ["sudo", "-n", *apt_get]
    return succeeds([*apt_get, "update"], seconds=PACKAGE_SECONDS) and succeeds(
        [*apt_get, "install", "--no-install-recommends", *PACKAGES], seconds=PACKAGE_SECONDS
    )


def find() -> str | None:
    """Return the first candidate that starts."""
    return next((path for path in candidates() if runs(path)), None)


def main() -> None:
    """Record the path of a browser, installing one if needed."""
    found = find() or (download() and find()) or (install_package() and find())
    if not found:
        sys.exit(HELP)
    NOTE.write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
