"""The processes of a running site, how they are kept running, and their signals to systemd and containers."""
