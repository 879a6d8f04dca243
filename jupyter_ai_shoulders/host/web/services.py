"""The web services of a host: where they are, their keys, and whether they may be called.

Made by ``host.shared_services``; the client is loaded at the first request. Addresses come from
``Shoulders.services``, then from the user's ``~/.shoulders/services.json``::

    {"version": 1, "services": {"searxng": {"base_url": "http://127.0.0.1:8888"}},
     "mailto": "me@example.org"}
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.web_services import ServiceId, web_service
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.base import Target
from jupyter_ai_shoulders.tools.permissions.rule_matching import rule_matches
from jupyter_ai_shoulders.tools.permissions.rules import Rules
from jupyter_ai_shoulders.web.pages.reader import PageReader
from jupyter_ai_shoulders.web.pages.source import PublicPages
from jupyter_ai_shoulders.web.papers.searcher import PaperSearcher
from jupyter_ai_shoulders.web.search.searcher import WebSearcher

if TYPE_CHECKING:
    from jupyter_ai_shoulders.guard.network.http_service_client import (
        HttpServiceClient,
        ServiceAddress,
    )

_log = logging.getLogger(__name__)

SERVICES = "services.json"
VERSION = 1
TRAIT = "Shoulders.services"


class PermissionSource(Protocol):
    """The part of ``PermissionStore`` that is used."""

    @property
    def rules(self) -> Rules:
        """The rules in force. Raises ``StateUnavailable``."""
        ...


class WebServices:
    """``ServiceClient`` on the settings of this host."""

    def __init__(
        self, trait: Mapping[str, Any], file: StateFile, keys: KeyStore, clock: Clock
    ) -> None:
        self.keys = keys
        self._trait = trait
        self._file = file
        self._clock = clock
        self._permissions: PermissionSource | None = None
        self._client: HttpServiceClient | None = None
        self._writing = threading.Lock()
        self.pages = PageReader(PublicPages(self.check_host))
        """Pages that the agent fetches."""
        self.search = WebSearcher(self, self.is_set_up)
        self.papers = PaperSearcher(self)

    def set_permissions(self, permissions: PermissionSource) -> None:
        """Ask these permissions before each request."""
        self._permissions = permissions

    async def send(self, request: ServiceRequest) -> ServiceReply:
        """Call a service; see ``ServiceClient``."""
        if self._client is None:
            self._client = await asyncio.to_thread(self._load)
        return await self._client.send(request)

    async def is_set_up(self, service_id: ServiceId) -> bool:
        """Return whether a service has its address, and its key if it needs one."""
        service = web_service(service_id)
        if not self.address(service_id):
            return False
        variable = service.key_variable
        if variable is None or not service.key_required:
            return True
        return await asyncio.to_thread(self._key, variable) is not None

    def check_allowed(self, tool: str | None = None) -> None:
        """Raise ``PolicyRefusal`` (``disabled``) where external tools, or this one, are off.

        For routes that do on a click what an external tool does.
        """
        rules = Rules() if self._permissions is None else self._permissions.rules
        if rules.no_external:
            raise PolicyRefusal(
                "Tools that send data outside this computer are switched off.",
                code="disabled",
                hint="Switch them on in the AI settings, under Tools, if you want to use this.",
            )
        denying = tool and _denied_by(rules, tool)
        if denying:
            raise PolicyRefusal(
                f"{denying} denies it.",
                code="disabled",
                hint="Ask your administrator, or change the rule in the AI settings.",
            )

    def check_host(self, host: str) -> None:
        """Raise ``PolicyRefusal`` for a host that a rule about ``fetch_url`` denies."""
        rules = Rules() if self._permissions is None else self._permissions.rules
        target = Target(domain=host)
        for rule in (*rules.locked, *rules.rules):
            if rule.action == "deny" and rule_matches(rule, "fetch_url", target):
                raise PolicyRefusal(f"{rule.source} denies {host}.")

    def address(self, service_id: ServiceId) -> str:
        """Return the address in use; empty where the user must give one."""
        return self.configured_address(service_id) or web_service(service_id).base_url

    def configured_address(self, service_id: ServiceId) -> str | None:
        """Return the address that the administrator or the user gave."""
        return _address_in(self._trait, service_id) or _address_in(self._stored(), service_id)

    def is_locked(self, service_id: ServiceId) -> bool:
        """Return whether the administrator gave the address."""
        return _address_in(self._trait, service_id) is not None

    def set_address(self, service_id: ServiceId, base_url: str | None) -> None:
        """Store the user's address of a service, or remove it; blocks.

        Raises ``InvalidRequest``, ``PolicyRefusal`` (the administrator gave one),
        ``StateUnavailable``.
        """
        if self.is_locked(service_id):
            raise PolicyRefusal(
                f"Your administrator set the address of {web_service(service_id).title}.",
                hint=f"It is in {TRAIT} of Jupyter's configuration.",
            )
        with self._writing:
            stored = dict(self._content())
            services = dict(cast("Mapping[str, Any]", stored.get("services") or {}))
            if base_url is None:
                services.pop(service_id, None)
            else:
                services[service_id] = {"base_url": checked_address(base_url)}
            content = {**stored, "version": VERSION, "services": services}
            self._file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")

    def _load(self) -> HttpServiceClient:
        from jupyter_ai_shoulders.guard.network.http_service_client import (
            HttpServiceClient,
            ServiceSettings,
        )

        settings = ServiceSettings(
            address=self._service_address,
            key=self._key,
            mailto=self._mailto,
            check_allowed=self._check_service,
        )
        return HttpServiceClient(settings, clock=self._clock)

    def _service_address(self, service_id: ServiceId) -> ServiceAddress:
        from jupyter_ai_shoulders.guard.network.http_service_client import ServiceAddress

        service, given = web_service(service_id), self.configured_address(service_id)
        if given is not None:
            return ServiceAddress(given, configured=True)
        return ServiceAddress(service.base_url, configured=service.is_local)

    def _key(self, variable: str) -> str | None:
        key = self.keys.get(variable)
        return None if key is None else key.value

    def _mailto(self) -> str | None:
        for source in (self._trait, self._content()):
            mailto = source.get("mailto")
            if isinstance(mailto, str) and mailto.isascii() and mailto.isprintable():
                return mailto or None
        return None

    def _check_service(self, service_id: ServiceId) -> None:
        if "library" not in web_service(service_id).kinds:  # a program on this machine
            self.check_allowed()

    def _stored(self) -> Mapping[str, Any]:
        services = self._content().get("services")
        return cast("Mapping[str, Any]", services) if isinstance(services, dict) else {}

    def _content(self) -> Mapping[str, Any]:
        """Return the user's file; nothing where it cannot be read."""
        try:
            content = json.loads(self._file.read() or "{}")
        except (ValueError, RecursionError, StateUnavailable) as error:
            _log.warning("The addresses in %s are not used: %s", self._file.path, error)
            return {}
        return cast("Mapping[str, Any]", content) if isinstance(content, dict) else {}


def checked_address(text: str) -> str:
    """Return a base address without a final slash. Raises ``InvalidRequest``."""
    address = text.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        is_usable = is_usable and not (parts.username or parts.query or parts.fragment)
    except ValueError:
        is_usable = False
    if not is_usable or not address.isprintable() or " " in address:
        raise InvalidRequest(
            f"{text!r} is not the address of a service.",
            hint="Give an address such as http://127.0.0.1:8888, without a query or a password.",
        )
    return address


def _address_in(services: Mapping[str, Any], service_id: ServiceId) -> str | None:
    entry = services.get(service_id)
    given = cast("Mapping[str, Any]", entry).get("base_url") if isinstance(entry, Mapping) else None
    if not isinstance(given, str) or not given:
        return None
    try:
        return checked_address(given)
    except ShouldersError as error:
        _log.warning("The address of %s is not used: %s", service_id, error)
        return None


def _denied_by(rules: Rules, tool: str) -> str | None:
    """Return the administrator's or user's rule that denies a tool whatever it is called with."""
    if tool in rules.disabled:
        return "A switch in the permissions"
    for rule in (*rules.locked, *rules.rules):
        denies = rule.action == "deny" or rule.problem is not None
        if denies and rule.match is None and rule_matches(rule, tool, Target()):
            return rule.source
    return None
