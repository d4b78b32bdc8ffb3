"""The API of what leads to other sites and comes from them: webhooks and followed URLs."""
