"""The model proxy: any configured model, reachable in the formats of the official SDKs."""
