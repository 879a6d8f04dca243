r"""Turns LaTeX of bibliographies into text that people read, and text into LaTeX. Pure.

Not a LaTeX interpreter: accents, special letters, dashes, quotes and formatting commands as they
occur in bibliographies; unknown commands lose their backslash. Commands:
https://ctan.org/pkg/latex2e-help-texinfo (Accents, Text symbols).
"""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł",
    "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
    "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "copyright": "©",
    "pounds": "£", "texteuro": "€", "ldots": "…", "dots": "…", "textendash": "–",
    "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘", "textquotedblleft": "“",
    "textquotedblright": "”", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textbraceleft": "{", "textbraceright": "}", "textregistered": "®",
    "texttrademark": "™", "textdegree": "°", "guillemotleft": "«", "guillemotright": "»",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ",
    "mu": "μ", "pi": "π", "sigma": "σ", "omega": "ω", "times": "×", "pm": "±", "sim": "∼",
    "TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX", "textsuperscript": "", "textsubscript": "",
    "emph": "", "textit": "", "textbf": "", "textsc": "", "texttt": "", "textrm": "", "textsf": "",
    "textup": "", "mathrm": "", "mathbf": "", "mathit": "", "url": "", "em": "", "it": "",
    "bf": "", "sc": "", "tt": "", "rm": "", "mkbibquote": "", "enquote": "", "nocase": "",
    "ensuremath": "", "relax": "", "noopsort": "", "href": "", "hbox": "", "mbox": "",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\(?P<accent>[`'^~=.\"]|[uvHcdbrk](?![A-Za-z]))\s*(?:\{\\?(?P<braced>[A-Za-z]?)\}|\\(?P<dotless>[ij])(?![A-Za-z])\s?|(?P<plain>[A-Za-z]))"
    r"|\\(?P<word>[A-Za-z]+)\*?[ \t]?"
    r"|\\(?P<symbol>[^A-Za-z])"
    r"|(?P<dash>---?)|(?P<quotes>``|'')|(?P<tie>~)|(?P<skip>[{}$])"
)
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
}
_ESCAPED = re.compile(r"[\\{}~^&%$#_]")
_BARE_SPECIAL = re.compile(r"\\.|\$[^$]*\$|[&%#_]", re.DOTALL)
DECODED_LIMIT = 20_000
"""Characters of a value that are decoded."""
VERBATIM_FIELDS = frozenset(
    {"url", "doi", "eprint", "file", "pdf", "howpublished", "bdsk-url-1", "bdsk-url-2", "urlraw"}
)
"""Fields that LaTeX sets as they are."""


def decoded(value: str) -> str:
    """Return a value of BibTeX as text, on one line; of a very long one only the beginning."""
    value = value[:DECODED_LIMIT]
    if "\\" in value or any(mark in value for mark in "{}$~") or "--" in value or "``" in value:
        value = _TOKEN.sub(_replacement, value)
    return unicodedata.normalize("NFC", " ".join(value.split()))


def escaped(text: str, name: str = "") -> str:
    """Return plain text as the value of a field; Unicode stays. Matches ``decoded``."""
    text = " ".join(text.split())
    if name.lower() in VERBATIM_FIELDS:
        return text.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


def escaped_latex(value: str, name: str = "") -> str:
    r"""Return a value that may have LaTeX, with bare ``& % # _`` escaped outside of math."""
    if name.lower() in VERBATIM_FIELDS:
        return value
    return _BARE_SPECIAL.sub(
        lambda match: match[0] if len(match[0]) > 1 else f"\\{match[0]}", value
    )


def _replacement(match: re.Match[str]) -> str:
    if match["accent"]:
        base = match["braced"] or match["dotless"] or match["plain"] or ""
        return unicodedata.normalize("NFC", base + _ACCENTS[match["accent"]]) if base else ""
    if match["word"]:
        return _LETTERS.get(match["word"], match["word"])
    if match["symbol"]:
        return " " if match["symbol"] in {"\\", "\n", " ", ","} else match["symbol"].strip("/-")
    if match["dash"]:
        return "—" if match["dash"] == "---" else "–"
    if match["quotes"]:
        return "“" if match["quotes"] == "``" else "”"
    return " " if match["tie"] else ""
