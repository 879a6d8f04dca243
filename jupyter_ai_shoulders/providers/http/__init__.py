"""Sends requests to model services: connections, endpoints, retries and error mapping."""
