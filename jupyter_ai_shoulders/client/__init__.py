"""The Python client: conversations and models of a Jupyter server, from a kernel or a script."""

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import (
    BudgetReached,
    ClientError,
    NotAllowed,
    Refused,
    ServerNotFound,
    TurnFailed,
    Unreachable,
    Waiting,
)
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.client.turn_reader import Answer

__all__ = [
    "Answer",
    "BudgetReached",
    "Client",
    "ClientError",
    "NotAllowed",
    "Refused",
    "ServerNotFound",
    "Turn",
    "TurnFailed",
    "Unreachable",
    "Waiting",
]
