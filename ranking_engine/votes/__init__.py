"""Votes: which of two systems was better, vote by vote, and the ratings that follow from them."""
