"""Pages in the language of the site; files and the API in English, as programs read them."""
