"""Selects the environment variables that programs of the agent get.

Leaves out variables that look like a secret or lead to one: names are matched broadly, values are
searched for known keys and for addresses with a password. Used by ``host.tools.command_execution``.
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
"""Name prefixes of variables of servers, clouds, providers, agents and authentication sockets."""
_ALLOWED = frozenset({"PWD", "OLDPWD", "JUPYTER_PATH", "HF_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"})
_STARTS_CODE = frozenset(
    {"BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONINSPECT", "LD_PRELOAD"}
)
"""Variables that run code, or start a dialogue, in every shell."""
_PASSWORD_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.IGNORECASE)


def command_environment(
    environ: Mapping[str, str], redact: Callable[[str], str] = str
) -> dict[str, str]:
    """Return the variables a command may see; ``redact`` replaces known keys in values."""
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
