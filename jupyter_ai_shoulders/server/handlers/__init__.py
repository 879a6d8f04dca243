"""HTTP handlers of the API, with their base class, request bodies and error statuses."""
