"""The basis of every rule: score matrices, rankings, weights, missing scores, pairwise victories."""
