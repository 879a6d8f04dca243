"""Google Gemini ``generateContent`` (reference §4)."""
