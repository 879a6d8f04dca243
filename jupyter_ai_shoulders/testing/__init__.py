"""Fakes and simulators, shipped because the demo and users' own tests need them."""
