"""Telling people and programs what happened: notices, mails, webhooks, and the outbox they wait in."""
