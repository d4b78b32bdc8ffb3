"""People’s accounts: signing in, second factors, sessions, tokens, and closing an account."""
