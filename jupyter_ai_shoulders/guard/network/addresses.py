"""Decides which addresses and hosts tools may fetch from: only those of the public internet.

Pure. Refuses private, loopback, link-local, shared (CGNAT), multicast and reserved ranges,
addresses that embed another one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), and cloud
metadata addresses. Used by ``guard.network.fetch``.
"""

from __future__ import annotations

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All assigned IPv6 unicast space (RFC 4291); the rest is local, reserved or embeds IPv4."""
_REFUSED_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # IETF assignments: Teredo, ORCHID, benchmarks (RFC 2928, 4380, 7343)
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4 (RFC 3056)
        "3fff::/20",  # documentation (RFC 9637)
        "2620:4f:8000::/48",  # AS112 (RFC 7535)
    )
)
_REFUSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network (RFC 1122)
        "10.0.0.0/8",  # private (RFC 1918)
        "100.64.0.0/10",  # shared, CGNAT (RFC 6598); metadata of Alibaba Cloud
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local (RFC 3927); metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF assignments (RFC 6890); metadata of Oracle Cloud
        "192.0.2.0/24",  # documentation (RFC 5737)
        "192.31.196.0/24",  # AS112 (RFC 7535)
        "192.52.193.0/24",  # AMT (RFC 7450)
        "192.88.99.0/24",  # 6to4 relays (RFC 7526)
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112 (RFC 7534)
        "198.18.0.0/15",  # benchmarks (RFC 2544)
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast (RFC 5771, 1112)
        "168.63.129.16/32",  # Azure's host, a public address that leads to the machine itself
    )
)

_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""First half of an interface identifier with an embedded IPv4 address (RFC 5214, section 6.1)."""
_LOCAL_NAMES = (
    *("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp"),
    *("home.arpa", "private", "onion", "test", "invalid", "example", "alt"),
)
"""Names outside the public internet (RFC 6761, 6762, 8375, 9476; ICANN for .internal)."""
_NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]*")
_PLAIN_V4 = re.compile(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None or address not in _GLOBAL_UNICAST:
        return False
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return False
    return not any(address in network for network in _REFUSED_6)


def forbidden_host_reason(host: str) -> str | None:
    """Return why a host of a URL is refused, or None when its name may be resolved.

    ``host`` is lower case and ASCII, IPv6 without brackets. A host that ends in a number is an
    address (WHATWG URL, "ends in a number"). Only four decimal numbers are accepted, because
    systems read other forms as octal, hexadecimal or short forms.
    """
    name = host.removesuffix(".")
    address = literal_address(name)
    if address is not None:
        return None if is_public(address) else "it is an address that is not public"
    if ":" in name or _NUMBER.fullmatch(name.rpartition(".")[2]):
        return "it is an address in a form that can be read in more than one way"
    if len(name) > 253 or not _NAME.fullmatch(name):
        return "it is no name of a host"
    if "." not in name or any(
        name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES
    ):
        return "its name is not one of the public internet"
    return None


def literal_address(host: str) -> Address | None:
    """Return the address a host spells in its plain form; None for names."""
    try:
        if ":" in host:
            return ipaddress.IPv6Address(host)
        return ipaddress.IPv4Address(host) if _PLAIN_V4.fullmatch(host) else None
    except ValueError:
        return None
