"""Fill-in-the-middle of Mistral, DeepSeek and llama.cpp."""
