"""HTTP handlers of the API, with the base class, request bodies and error statuses they share."""
