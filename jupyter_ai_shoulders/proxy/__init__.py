"""The model proxy: any configured model, asked for in the formats of official SDKs (chapter 02)."""
