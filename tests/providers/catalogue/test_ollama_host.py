"""Tests of the Ollama address, from its environment variable and the preferences."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.catalogue.ollama_host import ollama_url, to_url

USUAL = ModelPreferences().ollama_host


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", ""),
        ("gpu.lan", "http://gpu.lan:11434"),
        ("gpu.lan:9999", "http://gpu.lan:9999"),
        (":9999", "http://127.0.0.1:9999"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9999", "http://127.0.0.1:9999"),
        ("[::]:9999", "http://[::1]:9999"),
        ("[::1]:9999", "http://[::1]:9999"),
        ("http://gpu.lan", "http://gpu.lan:80"),
        ("https://gpu.lan/ollama/", "https://gpu.lan:443/ollama"),
        ('"gpu.lan:1"', "http://gpu.lan:1"),
        ("gpu.lan:99999", ""),
        ("ftp://gpu.lan", ""),
    ],
)
def test_host_becomes_an_address(host: str, url: str) -> None:
    assert to_url(host) == url


@pytest.mark.parametrize(
    ("preferred", "variable", "url"),
    [
        (USUAL, "", ""),
        ("", "gpu.lan", "http://gpu.lan:11434"),
        (USUAL, "gpu.lan", "http://gpu.lan:11434"),
        ("http://mine:1", "gpu.lan", "http://mine:1"),
    ],
)
def test_preference_wins_over_the_environment(preferred: str, variable: str, url: str) -> None:
    assert ollama_url(preferred, {"OLLAMA_HOST": variable}) == url
