"""Corrections of citeproc-py where its elements differ from the CSL specification.

Loaded by ``references.styles.processor`` in the worker process only, as importing it loads citeproc
and lxml. Facts: https://docs.citationstyles.org/en/stable/specification.html.
"""

# citeproc-py and lxml have no types, so most values of this module are unknown to the type checker.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeStubs=false, reportMissingParameterType=false
# pyright: reportUntypedBaseClass=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from citeproc import model
from citeproc.frontend import CitationStylesStyle
from citeproc.source import VariableError
from lxml import etree

from jupyter_ai_shoulders.references.styles.collapsing import collapse_numbers, collapse_years

NAMESPACE = "http://purl.org/net/xbiblio/csl"
_RENDERED = "_rendered"
_CALLED = "_called"


def _note(item: Any, variable: str | None, value: Any) -> Any:
    """Record that a variable was asked for, and whether it has a value; return the value."""
    names = (variable or "").split()
    if value is not None and str(value):
        item.setdefault(_RENDERED, []).extend(names)
    return value


def _note_text(item: Any, is_macro: bool, value: Any) -> Any:
    """Record that a macro or a group inside a group has text, which counts as a variable."""
    if is_macro and value is not None and str(value):
        item.setdefault(_RENDERED, []).append("")
    return value


class Text(model.Text):
    """Records variables; finds macros by name at once."""

    def get_macro(self, name: str) -> Any:
        """Return a macro of the style. Raises ``KeyError``."""
        return self.get_root().macros[name]

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Return the text. Raises ``VariableError`` where the variable has no value."""
        item = args[0]
        variable = self.get("variable")
        if variable is None:
            return _note_text(item, "macro" in self.attrib, super().render(*args, **kwargs))
        if variable not in self.generated_variables:
            item.setdefault(_CALLED, []).append(variable)
        return _note(item, variable, super().render(*args, **kwargs))


class Number(model.Number):
    """Records variables, and finds those with hyphens in their names."""

    def render(self, item: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the number. Raises ``VariableError`` where there is none."""
        item.setdefault(_CALLED, []).append(self.get("variable"))
        return _note(item, self.get("variable"), super().render(item, *args, **kwargs))

    def process(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        """Return the number before formatting."""
        variable = self.get("variable")
        if variable == "citation-number":
            return self._process(item.number, variable)
        if "-" in variable and variable != "page-first":
            return self._process(item.reference[variable.replace("-", "_")], variable)
        return super().process(item, context, **kwargs)


class Names(model.Names):
    """Records variables."""

    def render(self, item: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the names. Raises ``VariableError`` where there are none."""
        variables = " ".join(
            name for name in (self.get("variable") or "").split() if name in item.reference
        )
        item.setdefault(_CALLED, []).append(self.get("variable") or "")
        text = super().render(item, *args, **kwargs)
        return _note(item, variables, text)


class Date(model.Date):
    """Records variables; localized dates keep their own delimiter."""

    def render(self, item: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the date. Raises ``VariableError`` where there is none."""
        if self.get("variable") is None:
            return super().render(item, *args, **kwargs)
        item.setdefault(_CALLED, []).append(self.get("variable"))
        return _note(item, self.get("variable"), super().render(item, *args, **kwargs))

    def render_single_date(self, date: Any, show_parts: Any = None, context: Any = None) -> Any:
        """Return one date of a range."""
        parts = self.parts(date, show_parts, context if context is not None else self)
        if not parts:
            return None
        context = context if self.is_locale_date() and "delimiter" not in self.attrib else self
        return context.join(parts)


class Group(model.Group):
    """A group with variables is left out where none of them has a value."""

    def process(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        """Return the texts of the group. Raises ``VariableError`` where it is left out."""
        called, rendered = len(item.get(_CALLED, ())), len(item.get(_RENDERED, ()))
        texts = [text for child in self if (text := self._child(child, item, context, **kwargs))]
        asked = len(item.get(_CALLED, ())) > called
        if not texts or (asked and len(item.get(_RENDERED, ())) == rendered):
            raise VariableError
        return _note_text(item, True, self.join(texts))

    def _child(self, child: Any, item: Any, context: Any, **kwargs: Any) -> Any:
        try:
            if isinstance(child, model.Choose):
                delimiter = self.get("delimiter", "")
                return child.render(item, context=context, delimiter=delimiter, **kwargs)
            return child.render(item, context=context, **kwargs)
        except VariableError:
            return None


class Substitute(model.Substitute):
    """What replaced the names is not shown a second time."""

    def render(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        """Return the first replacement that has a value."""
        for child in self.getchildren():
            before = len(item.get(_RENDERED, ()))
            text = self._child(child, item, context, **kwargs)
            if text:
                names = item.get(_RENDERED, ())[before:]
                repressed = (context if context is not None else self).get_layout().repressed
                repressed.setdefault(f"{{{NAMESPACE}}}text", []).extend(names)
                return text
        return None

    def _child(self, child: Any, item: Any, context: Any, **kwargs: Any) -> Any:
        try:
            if isinstance(child, model.Names) and child.name is None:
                names = self.xpath_search("./parent::cs:names[1]")[0]
                return child.render(item, names_context=names, context=context, **kwargs)
            return child.render(item, context=context, **kwargs)
        except VariableError:
            return None


class Name(model.Name):
    """Keeps given names where the style does not want initials."""

    def get_option(self, name: str, context: Any = None, sort_options: Any = None) -> Any:
        """Return an option of names."""
        if name == "initialize-with" and self.get("initialize") == "false":
            return None
        return super().get_option(name, context, sort_options)


class Label(model.Label):
    """Labels in title case begin with a capital letter whatever language the work has."""

    def case(self, text: Any, language: Any = None) -> Any:
        """Return the label in its case."""
        return super().case(text, language or "en")


class Layout(model.Layout):
    """Joins the works of a citation, and shortens the list as the style asks."""

    def join(self, strings: Any, default_delimiter: str = "") -> Any:
        """Return the citations of a cluster."""
        parent = self.getparent()
        texts = [text for text in strings if text is not None]
        collapse = parent.get("collapse") if isinstance(parent, model.Citation) else None
        delimiter = self.get("delimiter", default_delimiter)
        if collapse == "citation-number":
            return model.String(collapse_numbers([str(text) for text in texts], delimiter))
        if collapse:
            within = parent.get("cite-group-delimiter", ", ")
            return model.String(collapse_years([str(text) for text in texts], delimiter, within))
        return super().join(texts, default_delimiter)


_CORRECTED = (Text, Number, Names, Date, Group, Substitute, Name, Label, Layout)


class CorrectedStyle(CitationStylesStyle):
    """A style from bytes: no entities, no network, a bounded depth, and macros found once."""

    def __init__(self, content: bytes, locale: str) -> None:
        """Parse a style. Raises ``lxml.etree.XMLSyntaxError`` and ``ValueError``."""
        self.parser = safe_parser()
        self.parser.set_element_class_lookup(_element_classes())
        root = etree.fromstring(content, self.parser)
        if root.tag != f"{{{NAMESPACE}}}style":
            raise ValueError("it is no CSL style")
        self.xml = root.getroottree()
        self.root = root
        # The proxies of lxml hold what is kept on them only while something refers to them.
        self.elements = list(root.iter())
        macros = {macro.get("name"): macro for macro in root.findall(f"{{{NAMESPACE}}}macro")}
        self.root.macros = macros
        self.root.set_locale_list(locale, validate=False)


def safe_parser() -> Any:
    """Return a parser of untrusted XML: no entities, no external document types, no network."""
    return etree.XMLParser(
        remove_comments=True,
        remove_pis=True,
        no_network=True,
        resolve_entities=False,
        load_dtd=False,
        huge_tree=False,
    )


def _element_classes() -> Any:
    """Return the processor's classes of elements, with the corrected ones in their places."""
    lookup = etree.ElementNamespaceClassLookup()
    namespace = lookup.get_namespace(NAMESPACE)
    namespace[None] = model.CitationStylesElement
    originals = model.CitationStylesElement.__subclasses__()
    corrected: dict[str, Callable[..., Any]] = {cls.__name__: cls for cls in _CORRECTED}
    for cls in originals:
        chosen = corrected.get(cls.__name__, cls)
        namespace[cls.__name__.replace("_", "-").lower()] = chosen
    return lookup
