"""What every rule is built on: score matrices, rankings, weights, missing scores, pairwise victories."""
