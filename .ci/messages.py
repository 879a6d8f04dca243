"""Writes the catalogue of messages and updates the language packs.

Run by ``make gen``; with ``--check`` it only reports outdated files. The catalogue is
``jupyter_ai_shoulders/locale/jupyter_ai_shoulders.pot``; a pack is a ``.po`` file beside it, which
gets new messages without a translation, and the ``.json`` file that JupyterLab reads.
"""

import io
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import server_messages
from babel.messages.catalog import Catalog
from babel.messages.pofile import normalize, read_po

ROOT = Path(__file__).parents[1]
DOMAIN = "jupyter_ai_shoulders"
LOCALES = ROOT / DOMAIN / "locale"
SERVER = "server"
"""The context of messages of the server, see labextension/src/text/serverMessages.ts."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Message:
    """A message in English, and the files that contain it."""

    id: str
    plural: str | None = None
    context: str = ""
    files: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Return the look-up key of a message: a context has one form of it."""
        return self.context, self.id


def collect() -> list[Message]:
    """Return all messages of the page and of the server, sorted.

    Raises:
        ValueError: a message has a plural in one place and none in another.
    """
    found: dict[Key, Message] = {}
    for message in (*of_page(), *of_server()):
        before = found.get(message.key, message)
        if before.plural != message.plural:
            raise ValueError(f"{message.id!r} has and has no plural, in {message.files}")
        files = tuple(sorted({*before.files, *message.files}))
        found[message.key] = Message(message.id, message.plural, message.context, files)
    return [found[key] for key in sorted(found)]


def of_page() -> Iterator[Message]:
    script = Path(__file__).with_name("page_messages.mjs")
    node = Path(sys.prefix, "bin", "node")
    output = subprocess.run([node, script], check=True, capture_output=True, text=True).stdout
    for said in json.loads(output):
        yield Message(said["id"], said.get("plural"), said.get("context", ""), (said["file"],))


def of_server() -> Iterator[Message]:
    for text, files in server_messages.messages().items():
        yield Message(text, None, SERVER, tuple(files))


def written(messages: Iterable[Message], header: str, pack: Catalog | None = None) -> str:
    """Return a catalogue or a pack in gettext's format."""
    entries = [entry(message, translated(message, pack)) for message in messages]
    return "\n".join([header, *entries])


def entry(message: Message, texts: list[str]) -> str:
    lines = [f"#: {' '.join(message.files)}"]
    if message.context:
        lines.append(f"msgctxt {normalize(message.context)}")
    lines.append(f"msgid {normalize(message.id)}")
    if message.plural is None:
        lines.append(f"msgstr {normalize(texts[0])}")
    else:
        lines.append(f"msgid_plural {normalize(message.plural)}")
        lines += [f"msgstr[{form}] {normalize(text)}" for form, text in enumerate(texts)]
    return "\n".join(lines) + "\n"


def translated(message: Message, pack: Catalog | None) -> list[str]:
    """Return the texts of a pack for a message, empty where it has none."""
    forms = 1 if message.plural is None else (2 if pack is None else pack.num_plurals)
    known = None if pack is None else pack.get(message.id, message.context or None)
    string = "" if known is None else known.string
    texts = [string] if isinstance(string, str) else list(string)
    return texts if len(texts) == forms else [""] * forms


def head(language: str, plural_forms: str) -> str:
    lines = [
        "# Messages of jupyter-ai-shoulders. Written by `make gen`; see docs/translate.md.",
        'msgid ""',
        'msgstr ""',
        rf'"Project-Id-Version: {DOMAIN}\n"',
        *([rf'"Language: {language}\n"'] if language else []),
        r'"MIME-Version: 1.0\n"',
        r'"Content-Type: text/plain; charset=utf-8\n"',
        r'"Content-Transfer-Encoding: 8bit\n"',
        rf'"Plural-Forms: {plural_forms}\n"',
    ]
    return "\n".join(lines) + "\n"


def as_json(messages: Iterable[Message], pack: Catalog) -> str:
    """Return a pack as JupyterLab reads it; messages without a translation stay English."""
    about = {
        "domain": DOMAIN,
        "language": str(pack.locale).replace("_", "-"),
        "plural_forms": f"{pack.plural_forms};",
    }
    texts = {
        f"{message.context}\x04{message.id}" if message.context else message.id: given
        for message in messages
        if all(given := translated(message, pack))
    }
    return json.dumps({"": about, **texts}, ensure_ascii=False, indent=0) + "\n"


def files() -> Iterator[tuple[Path, str]]:
    """Yield each file with its expected content."""
    messages = collect()
    yield LOCALES / f"{DOMAIN}.pot", written(messages, head("", "nplurals=2; plural=(n != 1);"))
    for path in sorted(LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        pack = read_po(io.BytesIO(path.read_bytes()))
        header = head(str(pack.locale), f"{pack.plural_forms};")
        yield path, written(messages, header, pack)
        yield path.with_suffix(".json"), as_json(messages, pack)


def main() -> int:
    stale = [
        (path, text)
        for path, text in files()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for path, _ in stale:
            print(f"{path.relative_to(ROOT)} is not up to date: run make gen")
        return 1 if stale else 0
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
