"""Rofin et al. 2023, Vote'n'Rank: what the paper prints, what the authors' notebooks print, and ours."""
