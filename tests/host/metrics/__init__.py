"""Tests of metrics, traces and step log lines."""
