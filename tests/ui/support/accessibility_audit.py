"""The automated audit of a page: axe-core, loaded into the page by the tests."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Locator

AXE = Path(__file__).parents[3] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"

COLOURS = ("color-contrast",)
"""The rules that a theme can break."""


def audit(root: Locator, rules: tuple[str, ...] = ()) -> list[str]:
    """The violations in an element, by all rules of WCAG 2.2 AA or the given ones."""
    if not root.page.evaluate("() => 'axe' in window"):
        root.page.evaluate(AXE.read_text(encoding="utf-8"))
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": tags}
    return root.evaluate(f"root => ({_RUN})(root, {json.dumps(only)})")


_RUN = """async (root, runOnly) => {
    const {violations} = await axe.run(root, {
        runOnly,
        resultTypes: ['violations'],
        // The lab's own: it has no headings above ours and its own landmarks.
        rules: {'heading-order': {enabled: false}, 'region': {enabled: false}},
    });
    return violations.flatMap(({id, nodes}) => nodes.map(node =>
        `${id}: ${node.html.slice(0, 160)} (${node.any.map(each => each.message).join('; ')})`));
}"""
