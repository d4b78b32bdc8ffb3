"""Messages to people and programs: notices, emails, webhooks, and the outbox in which they wait."""
