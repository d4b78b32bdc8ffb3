"""The processes of a running site, what keeps them running, and what they tell systemd and containers."""
