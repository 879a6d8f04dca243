"""Metrics, traces and log lines about turns, made from committed events."""
