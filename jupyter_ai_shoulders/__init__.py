"""An AI colleague inside JupyterLab: what Jupyter needs to find its two halves, and notebooks ours.

Jupyter and IPython call functions by name, at every server start, so nothing heavy may be imported.
"""
# pyright: reportUnusedFunction=false

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_ai_shoulders.client import Client
    from jupyter_ai_shoulders.kernel.panel.widget import ChatPanel

__all__ = ["ChatPanel", "Client"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import what notebooks use when it is asked for."""
    if name == "Client":
        from jupyter_ai_shoulders.client import Client

        return Client
    if name == "ChatPanel":
        from jupyter_ai_shoulders.kernel.panel.widget import ChatPanel

        return ChatPanel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the built page half lives and the name JupyterLab knows it by."""
    return [{"src": "labextension", "dest": "jupyter-ai-shoulders"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """The server half; imported here, so that a kernel which imports the package does not pay."""
    from jupyter_ai_shoulders.server.app import ShouldersApp

    return [{"module": "jupyter_ai_shoulders", "app": ShouldersApp}]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext jupyter_ai_shoulders``: the magics ``%ai`` and ``%%ai``."""
    from jupyter_ai_shoulders.kernel.magics import load

    load(shell)
