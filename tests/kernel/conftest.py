"""One real server for the tests of the magics."""

from tests.client.conftest import client, place

__all__ = ["client", "place"]
