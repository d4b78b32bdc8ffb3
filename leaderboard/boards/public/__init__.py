"""What other sites show of a board: badges, cards, feeds and the embedded table."""
