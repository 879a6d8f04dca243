"""An AI agent inside JupyterLab: the entry points of Jupyter and IPython, and names for notebooks.

Jupyter and IPython call them at every server start, so nothing heavy may be imported.
"""
# pyright: reportUnusedFunction=false

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_ai_shoulders.client import Client
    from jupyter_ai_shoulders.kernel.panel.widget import ChatPanel

__all__ = ["ChatPanel", "Client"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the names for notebooks on first use."""
    if name == "Client":
        from jupyter_ai_shoulders.client import Client

        return Client
    if name == "ChatPanel":
        from jupyter_ai_shoulders.kernel.panel.widget import ChatPanel

        return ChatPanel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Return the location and name of the built lab extension."""
    return [{"src": "labextension", "dest": "jupyter-ai-shoulders"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Return the server extension; imported here to keep the package's import cheap in kernels."""
    from jupyter_ai_shoulders.server.app import ShouldersApp

    return [{"module": "jupyter_ai_shoulders", "app": ShouldersApp}]


def load_ipython_extension(shell: Any) -> None:
    """Load the magics ``%ai`` and ``%%ai`` (``%load_ext jupyter_ai_shoulders``)."""
    from jupyter_ai_shoulders.kernel.magics import load

    load(shell)
