"""Writes ``docs/configuration.md`` from the traits, so that it never differs from them.

Run by ``make gen`` as ``python -m jupyter_ai_shoulders.server.config_reference FILE``.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from traitlets import TraitType

from jupyter_ai_shoulders.host.config import Shoulders

_HEAD = """\
# Configuration

For administrators and people who start the server: traits of `c.Shoulders` in a configuration
file of Jupyter (`jupyter_server_config.py`, or a JSON file in `jupyter_server_config.d/`), or on
the command line:

```
jupyter lab --Shoulders.budget_month_usd=20 --Shoulders.default_mode=plan
```

What users choose for themselves stands in `.shoulders/settings.json` of their workspace or in
`~/.shoulders/settings.json`, and is changed on the settings page; `Shoulders.settings` fixes any of
it for all. How these are used on a JupyterHub: [administration.md](administration.md).

This file is made of the traits by `make gen`.
"""


def reference() -> str:
    """Return the reference as Markdown: one section for each trait, in the order of the source."""
    traits = Shoulders.class_own_traits(config=True)
    ordered = sorted(traits, key=list(vars(Shoulders)).index)
    return "\n".join([_HEAD, *(_section(name, traits[name]) for name in ordered)])


def _section(name: str, trait: TraitType[Any, Any]) -> str:
    text = inspect.cleandoc(trait.help)
    return f"## `{name}`\n\n{_kind(trait)}; default: `{_default(trait)}`\n\n{text}\n"


def _kind(trait: TraitType[Any, Any]) -> str:
    """Return the kind of values a trait accepts, in traitlets' words."""
    return trait.info().strip().capitalize()


def _default(trait: TraitType[Any, Any]) -> str:
    return str(trait.default_value_repr())


def main() -> None:
    """Write the reference to the named file."""
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
