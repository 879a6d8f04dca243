"""What programs that the agent starts are given of the server's environment (chapter 07).

Everything but what looks like a secret or leads to one: names are matched broadly, values for known
keys and for addresses with a password. Used by ``guard.process.launcher``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_SECRET_WORDS = (
    *("KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD"),
    *("PASS", "PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "COOKIE", "PAT"),
    *("DSN", "SIGNATURE", "CERT", "LICENSE", "WEBHOOK", "LOGIN", "BEARER", "OAUTH"),
)
_SECRET_PARTS = ("APIKEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "PRIVATEKEY", "ACCESSKEY")
_FOREIGN = (
    *("JUPYTER", "JPY_", "BINDER", "CONFIGPROXY", "KERNEL_", "SHOULDERS_", "NOTEBOOK_"),
    *("AWS_", "AZURE_", "GOOGLE_", "GCP_", "GCLOUD_", "CLOUDSDK_", "KUBERNETES_", "DOCKER_"),
    *("OPENAI_", "ANTHROPIC_", "GEMINI_", "MISTRAL_", "OPENROUTER_", "OLLAMA_", "GROQ_", "XAI_"),
    *("DEEPSEEK_", "COHERE_", "HF_", "HUGGING", "WANDB_", "GITHUB_", "GITLAB_", "CI_"),
    *("SSH_", "GPG_", "DBUS_", "GNOME_", "KRB5", "VAULT_", "PG", "MYSQL_", "REDIS", "MONGO"),
)
"""Beginnings of names: of servers, clouds, providers, agents and sockets that open doors."""
_ALLOWED = frozenset({"PWD", "OLDPWD", "JUPYTER_PATH", "HF_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"})
_STARTS_CODE = frozenset(
    {"BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONINSPECT", "LD_PRELOAD"}
)
"""They would have something run, or begin a dialogue, in every shell."""
_PASSWORD_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.IGNORECASE)


def command_environment(
    environ: Mapping[str, str], redact: Callable[[str], str] = str
) -> dict[str, str]:
    """Return what may be known to a command; ``redact`` changes values that hold known keys."""
    return {
        name: value
        for name, value in environ.items()
        if _is_plain(name) and redact(value) == value and not _PASSWORD_IN_ADDRESS.search(value)
    }


def _is_plain(name: str) -> bool:
    if name in _ALLOWED:
        return True
    upper = name.upper()
    words = re.split(r"[^A-Z0-9]+", upper)
    return not (
        upper in _STARTS_CODE
        or upper.startswith(_FOREIGN)
        or any(word in _SECRET_WORDS for word in words)
        or any(part in upper.replace("_", "") for part in _SECRET_PARTS)
    )
