"""Which file names look like secrets: the one list for attachments, listings of changes and tools.

Names only, no content: whoever opens files for a model asks here first (chapter 13, keys).
"""

from __future__ import annotations

import re
import unicodedata
from fnmatch import fnmatchcase, translate

_SAMPLES = (".example", ".sample", ".template", ".dist")
"""Endings of files that show the form of a secret file without the secrets."""

_NAMES = (
    *(".env", ".env.*", "*.env", ".envrc"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *(".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd"),
    *(".npmrc", ".pypirc", ".dockercfg", ".boto", ".s3cfg", ".databrickscfg", "kaggle.json"),
    *("credentials", "credentials.*", "*credentials.json", "client_secret*.json"),
    *("service-account*.json", "service_account*.json", "application_default_credentials.json"),
    *("secrets.*", "secret.*", ".secrets*", "*.tfstate", "*.tfvars"),
    *("jupyter_cookie_secret", "jupyter_server_config.json", "kernel-*.json"),
)
_SECRET = re.compile("|".join(map(translate, _NAMES)))
"""All at once: the sandbox asks about every file of a workspace."""
_FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".shoulders")
_PUBLIC = ("*.pub", "id_*.pub")
_OPEN_BELOW_STATE = (".shoulders/skills/", ".shoulders/artifacts/", ".shoulders/system.md")


def is_secret(path: str) -> bool:
    """Return whether a path (with ``/``) names a file that usually holds keys or passwords.

    The state directory counts, but for what is meant to be read: skills, artifacts, ``system.md``.
    """
    lowered = "/".join(map(_plain, path.strip("/").split("/")))
    if any(lowered.startswith(place) for place in _OPEN_BELOW_STATE):
        return False
    *folders, name = lowered.split("/")
    if any(folder in _FOLDERS for folder in folders):
        return True
    if name.endswith(_SAMPLES) or any(fnmatchcase(name, pattern) for pattern in _PUBLIC):
        return False
    return _SECRET.match(name) is not None


def _plain(name: str) -> str:
    """Return a name as file systems compare it that mind no case (APFS, NTFS, HFS+).

    They fold compatible characters, pass over some that are not seen, and Windows drops dots and
    blanks at the end and takes what follows a colon for a stream of the file.
    """
    if name.isascii():
        seen = name
    else:
        folded = unicodedata.normalize("NFKC", name)
        seen = "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")
    return seen.casefold().partition(":")[0].rstrip(". ") or name
