"""Keys of every known kind are redacted completely; configured keys also when disguised."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from random import Random

import pytest

from jupyter_ai_shoulders.core.redaction.private_keys import LONGEST_BLOCK
from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor, StreamRedactor
from jupyter_ai_shoulders.core.redaction.secret_patterns import secret_pattern_table
from tests.redaction_measure import hashes, masked_by_mistake, missed, pictures
from tests.support.secret_samples import AROUND, COMMON, FIXED_PREFIX, secret

KEY = secret("sk-canary-<A16>/+<W22>", Random(3))
SHOWN_BEFORE_KNOWN = {"telegram-bot-token", "terraform-token", "mailchimp-key"}
"""Kinds recognised by their inner part: the beginning of a streamed key was already shown."""


@pytest.mark.parametrize("kinds", [FIXED_PREFIX, COMMON], ids=["fixed prefix", "common"])
def test_keys_of_all_kinds_are_masked_whole(kinds: dict[str, str]) -> None:
    assert missed(kinds, Random(1), samples=3) == []


def test_hashes_ids_and_pictures_are_not_masked() -> None:
    random = Random(2)
    assert masked_by_mistake(hashes(8_000, random)) == []
    assert masked_by_mistake(pictures(8, random)) == []


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://{user}:{password}@{host}/db",
        "postgresql://user:password@localhost",
        "http://localhost:8888/lab?next=a@b",
        "https://medium.com/@name and https://example.org:8443/@name",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "Authorization: Bearer YOUR_API_KEY, or basic authentication-mechanism",
        "sk-" + "x" * 40,
        "s.someattributeofsomething24(x) and test_a_long_name_of_a_test_with_words",
    ],
)
def test_what_only_resembles_a_key_stays(text: str) -> None:
    assert Redactor().redact(text) == text


@pytest.mark.parametrize(
    ("kind", "template"), {**FIXED_PREFIX, **COMMON}.items(), ids=[*FIXED_PREFIX, *COMMON]
)
def test_a_key_in_pieces_is_masked_as_the_whole_is(kind: str, template: str) -> None:
    random = Random(kind)
    before, after = AROUND.get(kind, ("", ""))
    text = f"Here it is: {before}{secret(template, random)}{after}, so\nuse it."
    stream = StreamRedactor(Redactor)
    shown: list[str] = []
    at = 0
    while at < len(text):
        size = random.randint(1, 9)
        shown.append(stream.push(text[at : at + size]))
        at += size
    joined = "".join([*shown, stream.finish()])
    if kind in SHOWN_BEFORE_KNOWN:
        assert MASK in joined
    else:
        assert joined == Redactor().redact(text)


def test_text_after_the_first_line_of_a_private_key_is_shown_at_once() -> None:
    stream = StreamRedactor(Redactor)
    first = "-----BEGIN PRIVATE " + "KEY-----"
    shown = stream.push(f"The line {first} starts a key, ")
    assert "starts a key, " in shown


def test_what_is_held_back_is_bounded() -> None:
    stream = StreamRedactor(Redactor)
    stream.push("-----BEGIN PRIVATE " + "KEY-----\n")
    text = "".join(stream.push("A" * 63 + "\n") for _ in range(LONGEST_BLOCK // 32))
    assert len(stream.finish()) <= LONGEST_BLOCK + 64
    assert text.startswith(MASK)


def test_a_private_key_without_its_end_is_masked_as_far_as_it_goes() -> None:
    lines = [secret("<B64>", Random(number)) for number in range(8)]
    begin = "-----BEGIN RSA PRIVATE " + "KEY-----"
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate([begin, *lines], 1))
    event = json.dumps({"text": f"{numbered}", "next": "MIIE" * 16})
    assert json.loads(Redactor().redact(event)) == {"text": f"1: {MASK}", "next": "MIIE" * 16}


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 after one byte": lambda key: base64.b64encode(f"x{key}yz".encode()).decode(),
    "base64 after two bytes": lambda key: base64.b64encode(f"xy{key}z".encode()).decode(),
    "urlsafe base64": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 in lines": lambda key: "\n".join(parts(DISGUISES["base64"](key), 19)),
    "hex": lambda key: key.encode().hex(),
    "upper-case hex": lambda key: key.encode().hex().upper(),
    "reversed": lambda key: key[::-1],
    "lines": lambda key: "\n".join(parts(key, 10)),
    "indented lines": lambda key: "\r\n    ".join(parts(key, 10)),
    "numbered lines": lambda key: "\n".join(f"{n}: {part}" for n, part in enumerate(parts(key, 8))),
    "joined literals": lambda key: '" +\n  "'.join(parts(key, 12)),
}


def parts(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize("nested", [0, 1, 2], ids=["text", "JSON", "JSON in JSON"])
def test_a_disguised_key_in_use_is_masked(disguise: Callable[[str], str], nested: int) -> None:
    hidden = disguise(KEY)
    text = f"it is\n{hidden}\nand so on"
    for _ in range(nested):
        text = json.dumps({"text": text, "next": "field"})
    redacted = Redactor([KEY]).redact(text)
    for _ in range(nested):
        redacted = json.loads(redacted)["text"]
    assert MASK in redacted
    words = "".join(sign if sign.isalnum() else " " for sign in hidden).split()
    assert not [word for word in words if len(word) > 4 and word in redacted]


@pytest.mark.parametrize("text", ["before\next-secret-123456 after", 'quote " back \\ slash'])
def test_json_stays_json_whatever_a_key_looks_like(text: str) -> None:
    keys = ["next-secret-123456", "ext-secret-123456", 'quote " back \\', "slash\\"]
    event = json.dumps({"a": text, "b": "-----BEGIN PRIVATE " + "KEY-----\\", "c": "-----END"})
    assert set(json.loads(Redactor(keys).redact(event))) == {"a", "b", "c"}


def test_redacting_twice_changes_nothing_more() -> None:
    random = Random(5)
    text = "\n".join(
        "".join([before, secret(template, random), after])
        for kind, template in {**FIXED_PREFIX, **COMMON}.items()
        for before, after in [AROUND.get(kind, ("", ""))]
    )
    once = Redactor([KEY]).redact(text)
    assert Redactor([KEY]).redact(once) == once


def test_the_table_names_its_sources_and_each_start_once_per_form() -> None:
    table = secret_pattern_table()
    assert all(source.name and source.license and source.url for source in table.sources)
    kinds = [row.kind for row in (*table.prefixed, *table.labelled)]
    assert len(kinds) == len(set(kinds))


def test_a_picture_is_not_searched_and_what_stands_beside_it_is() -> None:
    key = "ghp_" + "aB3" * 12
    data = "/AKIAABCDEFGHIJKLMNOP/" + "A1b2" * 20_000
    text = json.dumps({"token": key, "data": data, "at": "2026-11-23T03:38:00.000Z", "k": key})
    assert Redactor().redact(text) == text.replace(key, MASK)
    assert Redactor().redact(data[:100]) == data[:100].replace("AKIAABCDEFGHIJKLMNOP", MASK)
