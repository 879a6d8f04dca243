"""Sets environment variables by which programs in kernels find this server.

They hold the address of the server and of its model proxy, and a secret that opens the proxy and
the routes of ``kernel_access``. Installed by ``server.app``; read by ``client.server_discovery``
and ``client.sdk_clients``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from jupyter_server import CallContext
from jupyter_server.auth import User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join

if TYPE_CHECKING:
    from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets

_log = logging.getLogger(__name__)

PROXY_PATH = "shoulders/proxy"
_HUB_USER = "JUPYTERHUB_USER"
_NOBODY = "kernel"
"""User of a kernel that was started without a request, outside of a hub."""


def inject_kernel_environment(
    kernels: Any,
    address: Callable[[], str],
    secrets: Callable[[], Awaitable[KernelSecrets]],
    clean: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda environ: environ,
) -> None:
    """Set the variables in every kernel that a kernel manager starts from now on.

    ``address`` is the server's, known once it listens. If this fails the kernel starts without the
    variables. Restarts keep them; kernels behind a gateway are started elsewhere and cannot reach
    this server, so callers leave their managers out. ``clean`` removes variables that kernels must
    not have.
    """
    start: Callable[..., Awaitable[str]] = kernels.start_kernel

    async def start_told(*, kernel_id: str | None = None, **kwargs: Any) -> str:
        if kernel_id is not None and kernel_id in kernels:
            return await start(kernel_id=kernel_id, **kwargs)
        kernel_id = kernel_id or str(kernels.new_kernel_id(**kwargs))
        with ExitStack() as starting:
            try:
                granted = await secrets()
                starting.enter_context(granted.starting(kernel_id))
                secret = granted.issue(kernel_id, _user(os.environ))
                told = kernel_variables(address(), kernel_id, secret)
            except Exception:  # noqa: BLE001 - whatever it is, the user's kernel must start
                _log.exception("A kernel starts without a way to the AI colleague's models")
                told = {}
            environ = kwargs.pop("env", None)
            base = os.environ if environ is None else environ  # as in jupyter_client
            return await start(kernel_id=kernel_id, env={**clean(base), **told}, **kwargs)

    kernels.start_kernel = start_told


def kernel_variables(url: str, kernel_id: str, secret: str) -> dict[str, str]:
    """Return the variables for a kernel; ``client`` knows their names."""
    return {
        "SHOULDERS_URL": url,
        "SHOULDERS_KERNEL_ID": kernel_id,
        "SHOULDERS_PROXY_URL": url_path_join(url, PROXY_PATH),
        "SHOULDERS_PROXY_SECRET": secret,
    }


def _user(environ: Mapping[str, str]) -> User:
    """Return the user whose request starts the kernel; else the user the server was started for."""
    handler = cast("JupyterHandler | None", CallContext.get(CallContext.JUPYTER_HANDLER))
    user = None if handler is None else handler.current_user
    return user if isinstance(user, User) else User(environ.get(_HUB_USER) or _NOBODY)
