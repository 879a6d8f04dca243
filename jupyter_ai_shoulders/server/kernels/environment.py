"""Gives the kernels this server starts what lets their programs find it (reference, "Kernel side").

The address of the server and of its model proxy, and a secret that opens the proxy and what
``kernel_access`` names. Installed by ``server.app``; read by ``client.server_discovery`` and
``client.sdk_clients``.
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
"""Who a kernel acts for that nobody's request has started, outside of a hub."""


def inject_kernel_environment(
    kernels: Any,
    address: Callable[[], str],
    secrets: Callable[[], Awaitable[KernelSecrets]],
    clean: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda environ: environ,
) -> None:
    """Have every kernel that a kernel manager starts from now on told of this server.

    ``address`` is the server's, known once it listens. A kernel starts also when we fail: it then
    is not told. Restarts keep the variables; kernels behind a gateway are started elsewhere and
    have no way to this server, so callers leave their managers out. ``clean`` takes out of an
    environment what kernels are not to have.
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
            base = os.environ if environ is None else environ  # as jupyter_client has it
            return await start(kernel_id=kernel_id, env={**clean(base), **told}, **kwargs)

    kernels.start_kernel = start_told


def kernel_variables(url: str, kernel_id: str, secret: str) -> dict[str, str]:
    """Return what a kernel is told; ``client`` knows the names."""
    return {
        "SHOULDERS_URL": url,
        "SHOULDERS_KERNEL_ID": kernel_id,
        "SHOULDERS_PROXY_URL": url_path_join(url, PROXY_PATH),
        "SHOULDERS_PROXY_SECRET": secret,
    }


def _user(environ: Mapping[str, str]) -> User:
    """Return whose request starts the kernel; else who the server was started for."""
    handler = cast("JupyterHandler | None", CallContext.get(CallContext.JUPYTER_HANDLER))
    user = None if handler is None else handler.current_user
    return user if isinstance(user, User) else User(environ.get(_HUB_USER) or _NOBODY)
