"""``jupyter shoulders doctor``: collects the findings and prints them. Called by ``dispatch``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from jupyter_ai_shoulders.cli.backend_selection import BackendOptions, choose_backend
from jupyter_ai_shoulders.cli.doctor import engine, install
from jupyter_ai_shoulders.cli.doctor.finding import Finding, failure
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.output import write_json, write_out
from jupyter_ai_shoulders.client.errors import ClientError, Refused
from jupyter_ai_shoulders.core.errors import ShouldersError

_SIGNS = {"ok": "ok  ", "warning": "WARN", "failure": "FAIL"}


def doctor(options: BackendOptions, *, as_json: bool) -> ExitCode:
    """Run all checks; return 1 when something is broken. Warnings are no failure."""
    found = [*install.check_installation(install.this_install()), *_engine(options)]
    if as_json:
        write_json([finding.to_dict() for finding in found])
    else:
        write_out("".join(f"{line}\n" for line in lines(found)))
    broken = any(finding.state == "failure" for finding in found)
    return ExitCode.ERROR if broken else ExitCode.OK


def lines(found: Sequence[Finding]) -> list[str]:
    """Return the findings as lines, each followed by its advice."""
    width = max(len(finding.about) for finding in found)
    told: list[str] = []
    for finding in found:
        told.append(f"{_SIGNS[finding.state]}  {finding.about.ljust(width)}  {finding.text}")
        if finding.advice:
            told.append(f"      {' ' * width}  → {finding.advice}")
    return told


def _engine(options: BackendOptions) -> list[Finding]:
    """Check the engine; an unreachable engine is a finding, too."""
    try:
        with closing(choose_backend(options)) as backend:
            return list(engine.check_engine(backend.facts()))
    except Refused as error:
        return [failure("engine", error.info.message, error.info.hint or "")]
    except ShouldersError as error:
        return [failure("engine", error.info.message, error.info.hint or "")]
    except ImportError as error:
        return [failure("engine", f"cannot be imported: {error}", "See the findings above.")]
    except (ClientError, CommandFailed) as error:
        return [failure("engine", str(error), "--no-server looks without a server.")]
