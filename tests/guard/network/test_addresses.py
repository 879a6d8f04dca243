"""Public addresses and hosts."""

from __future__ import annotations

import ipaddress

import pytest

from jupyter_ai_shoulders.guard.network.addresses import forbidden_host_reason, is_public

REFUSED = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200"),
    *("100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "169.254.170.2"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
    *("192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::", "::1", "::2", "::7f00:1", "::ffff:127.0.0.1", "::ffff:93.184.216.34"),
    *("64:ff9b::7f00:1", "64:ff9b::5db8:d822", "64:ff9b:1::1", "100::1", "100:0:0:1::1"),
    *("2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1"),
    *("2001:db8::1", "2002:7f00:1::", "2002:5db8:d822::1", "2620:4f:8000::1", "3fff::1"),
    *("2a00:1:2:3:0:5efe:a00:1", "2a00:1:2:3:200:5efe:808:808"),
    *("4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::a9fe:a9fe", "fec0::1"),
    *("ff02::1", "ff0e::1", "2606:2800:220:1::1%eth0"),
]
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255"),
    *("100.128.0.0", "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0"),
    *("192.167.255.255", "192.169.0.0", "223.255.255.255", "168.63.129.15"),
    *("2606:2800:220:1:248:1893:25c8:1946", "2001:4860:4860::8888", "2a00:1450::1", "2400::1"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_address_that_is_not_public_is_refused(text: str):
    assert not is_public(ipaddress.ip_address(text))
    assert forbidden_host_reason(text.partition("%")[0]) or "%" in text
    assert forbidden_host_reason(text)


@pytest.mark.parametrize("text", PUBLIC)
def test_public_address_is_allowed(text: str):
    assert is_public(ipaddress.ip_address(text))
    assert forbidden_host_reason(text) is None


def test_no_address_that_python_knows_as_private_is_allowed():
    for first in range(256):
        for second in (0, 16, 31, 64, 100, 127, 168, 169, 254):
            address = ipaddress.IPv4Address(f"{first}.{second}.1.1")
            if address.is_private or address.is_multicast or address.is_reserved:
                assert not is_public(address), address


@pytest.mark.parametrize(
    "host",
    [
        *("2130706433", "017700000001", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1"),
        *("127.0.1", "0", "127.0.0.01", "127.0.0.0x1", "1.2.3.4.5", "256.1.1.1", "1.1.1.1.in.0x"),
        *("08.8.8.8", "8.8.8.010", "١٢٧.٠.٠.١", "%31%32%37.0.0.1", "127.0.0.1%00.org", "[::1]"),
        *("localhost", "localhost.", "a.localhost", "metadata", "metadata.google.internal"),
        *("printer.local", "router.lan", "nas.home.arpa", "x.onion", "host.docker.internal"),
        *("", ".", "a..org", "-a.org", "a_.org/..", "a org", "a.org:80", "fe80::1%25eth0"),
        *("x" * 254, "::ffff:7f00:1", "1:2:3", "0:0:0:0:0:ffff:127.0.0.1"),
    ],
)
def test_host_that_is_odd_or_local_is_refused(host: str):
    assert forbidden_host_reason(host)


@pytest.mark.parametrize(
    "host",
    ["example.org", "xn--fa-hia.de", "a.b-c.co.uk", "3com.com", "0x7f.org", "a_b.org", "x.y."],
)
def test_plain_name_may_be_resolved(host: str):
    assert forbidden_host_reason(host) is None
