"""Google Gemini ``generateContent``."""
