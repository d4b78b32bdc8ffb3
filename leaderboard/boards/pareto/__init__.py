"""The Pareto front: ranks and scores against what is known of systems."""
