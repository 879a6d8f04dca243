"""Notifications: kept until a page has shown them, and sent to a webhook."""
