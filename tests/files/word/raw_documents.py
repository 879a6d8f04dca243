"""Word documents made of raw XML, as Word writes it, for tests of reading and editing."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
NAMESPACES = (
    f'xmlns:w="{W}" '
    f'xmlns:r="{_OFFICE}/relationships" '
    f'xmlns:m="{_OFFICE}/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml" '
    'mc:Ignorable="w14 w15"'
)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_KINDS = {
    "comments.xml": ("comments", f"{_MAIN}.comments+xml"),
    "footnotes.xml": ("footnotes", f"{_MAIN}.footnotes+xml"),
    "endnotes.xml": ("endnotes", f"{_MAIN}.endnotes+xml"),
    "styles.xml": ("styles", f"{_MAIN}.styles+xml"),
    "numbering.xml": ("numbering", f"{_MAIN}.numbering+xml"),
    "settings.xml": ("settings", f"{_MAIN}.settings+xml"),
    "header1.xml": ("header", f"{_MAIN}.header+xml"),
    "footer1.xml": ("footer", f"{_MAIN}.footer+xml"),
}
STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
    "</w:style>"
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
    '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/></w:style>'
)


def document(
    body: str, parts: Mapping[str, str] | None = None, members: Mapping[str, bytes] | None = None
) -> bytes:
    """Return a document; ``parts`` are the contents of the root elements of other parts."""
    parts = {"styles.xml": STYLES, **(parts or {})}
    roots = {"header1.xml": "hdr", "footer1.xml": "ftr"}
    files: dict[str, bytes] = {}
    overrides = [("word/document.xml", f"{_MAIN}.document.main+xml")]
    relations: list[str] = []
    for number, (name, inner) in enumerate(parts.items(), 1):
        kind, media = _KINDS[name]
        root = roots.get(name, name.removesuffix(".xml"))
        files[f"word/{name}"] = f"{_HEAD}<w:{root} {NAMESPACES}>{inner}</w:{root}>".encode()
        overrides.append((f"word/{name}", media))
        relations.append(
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/relationships/{kind}" '
            f'Target="{name}"/>'
        )
    relations.append(
        f'<Relationship Id="rIdL" Type="{_OFFICE}/relationships/hyperlink" '
        'Target="https://example.org/" TargetMode="External"/>'
    )
    relations.append(
        f'<Relationship Id="rIdP" Type="{_OFFICE}/relationships/image" Target="media/p.png"/>'
    )
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in overrides
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    everything = {
        "[Content_Types].xml": (
            f'{_HEAD}<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="png" ContentType="image/png"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>'
        ).encode(),
        "_rels/.rels": (
            f'{_HEAD}<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/relationships/officeDocument" Target="word/document.xml"/>'
            "</Relationships>"
        ).encode(),
        "word/document.xml": (
            f"{_HEAD}<w:document {NAMESPACES}><w:body>{body}"
            '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>'
        ).encode(),
        "word/_rels/document.xml.rels": (
            f'{_HEAD}<Relationships xmlns="{package}/relationships">{"".join(relations)}'
            "</Relationships>"
        ).encode(),
        **files,
        **(members or {}),
    }
    return zipped(everything)


def encrypted() -> bytes:
    """Return the beginning of a compound file with the stream of MS-OFFCRYPTO 1.3.1."""
    entry = "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0")
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1528) + entry + bytes(448)


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return an archive; XML is deflated, the rest stored."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (2024, 2, 3, 4, 5, 6))
            packed = name.endswith((".xml", ".rels"))
            info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            archive.writestr(info, content)
    return written.getvalue()


def paragraph(*runs: str, properties: str = "") -> str:
    """Return a paragraph; plain texts become runs."""
    inner = "".join(run if run.startswith("<") else run_of(run) for run in runs)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inner}</w:p>"


def run_of(text: str, properties: str = "", tag: str = "t") -> str:
    """Return a run with a text."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    formats = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{formats}<w:{tag} xml:space="preserve">{escaped}</w:{tag}></w:r>'


def inserted(*runs: str, author: str = "Ann", number: int = 901) -> str:
    """Return a tracked insertion."""
    inner = "".join(run if run.startswith("<") else run_of(run) for run in runs)
    return (
        f'<w:ins w:id="{number}" w:author="{author}" w:date="2024-01-02T03:04:05Z">{inner}</w:ins>'
    )


def deleted(*runs: str, author: str = "Ann", number: int = 951) -> str:
    """Return a tracked deletion."""
    inner = "".join(run if run.startswith("<") else run_of(run, tag="delText") for run in runs)
    return (
        f'<w:del w:id="{number}" w:author="{author}" w:date="2024-01-02T03:04:05Z">{inner}</w:del>'
    )


def table(*rows: str) -> str:
    """Return a table of cells with the given blocks, ``|`` between the cells of a row."""
    made = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{cell}</w:tc>" for cell in row.split("|")) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{made}</w:tbl>"
