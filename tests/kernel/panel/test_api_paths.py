"""Paths that a panel's page may request through its kernel."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.kernel.panel.server_relay import OutsideApi, below_api


@pytest.mark.parametrize(
    "path",
    [
        "status",
        "sessions?limit=5&text=a%2Fb",
        "sessions/ses_1/events?after=3",
        "artifacts/ses_1/my%20plot..png",
        "files/search?q=../notes",
        "files/search?q=http://example.org/",
    ],
)
def test_paths_of_the_api_pass_as_they_are(path: str) -> None:
    assert below_api(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "?token",
        "/api/contents",
        "//evil.example/x",
        "https://evil.example/x",
        "http:evil",
        "..",
        "../../../api/contents",
        "sessions/../../../../api/contents",
        "sessions/./x",
        "sessions/%2e%2e/%2E%2E/api",
        "sessions/%252e%252e/x",
        "sessions/%25252e%25252e/x",
        "sessions/..%2f..%2fapi",
        "sessions/..%5capi",
        "sessions\\..\\api",
        "sessions/x#fragment",
        "sessions/x y",
        "sessions/x\r\nHost: evil.example",
        "sessions/x\x00",
        "kernels/k1/proxy-secret",
        "kernels/k1/proxy%2Dsecret/?x",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    with pytest.raises(OutsideApi, match="of the AI colleague"):
        below_api(path)
