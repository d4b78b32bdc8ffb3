"""The texts of pages in other languages: what is marked for translation, and what a pseudo-language shows."""
