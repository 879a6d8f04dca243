"""The variables that an agent of others is started with. Pure; used by ``agent_catalogue``.

An agent signs in as its maker says, so it gets none of our keys: only the variables named here and
those that its entry in ``acp_agents`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jupyter_ai_shoulders.core.variable_expansion import expand_variables, variables_in

PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    }
)
"""Where programs and the user's files are, the language, and the way to the network."""
PASSED_PREFIX = "LC_"


def agent_environment(
    environ: Mapping[str, str], named: Mapping[str, str], lookup: Callable[[str], str | None]
) -> dict[str, str]:
    """Return the whole environment of an agent.

    ``named`` are the variables of its entry; ``lookup`` returns what their ``${NAME}`` stand for.
    Raises ``MissingVariable``.
    """
    passed = {
        name: value
        for name, value in environ.items()
        if name in PASSED or name.startswith(PASSED_PREFIX)
    }
    used = {name for value in named.values() for name in variables_in(value)}
    found = {name: value for name in used if (value := lookup(name)) is not None}
    return {**passed, "NO_COLOR": "1", **expand_variables(named, found)}
