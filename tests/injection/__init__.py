"""Measures prompt injection with a model that obeys every instruction it is sent."""
