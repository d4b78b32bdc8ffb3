"""What rules cost: estimated seconds of one core for n systems and T tasks, shared parts included."""

from __future__ import annotations

MAX_COMPARED = 15_000  # systems all of whose pairs are compared: a number for each takes 0.9 GB


def sorting(n: int, T: int) -> float:
    """Of sorting every task."""
    return 2e-4 + 1.5e-7 * n * T


def pairwise(n: int, T: int) -> float:
    """Of comparing all pairs of systems."""
    return 3e-4 + 1.5e-7 * n * T + 5e-10 * n * n * T + 1.5e-8 * n * n


def schulze(n: int, T: int) -> float:
    """Of the strongest paths between all pairs."""
    return pairwise(n, T) + min(1e-3 + 5e-10 * n**3, 2e-7 * n * n + 1e-2)


def ranked_pairs(n: int, T: int) -> float:
    """Of locking in victories."""
    return pairwise(n, T) + 2e-3 + 1e-6 * n * n


def lotteries(n: int, T: int) -> float:
    """Of solving the lotteries of all rounds."""
    return pairwise(n, T) + 2e-3 + 1.2e-4 * n + 1.6e-6 * n * n


def kemeny(n: int, T: int) -> float:
    """Of searching for the best order."""
    return pairwise(n, T) + 2e-3 + 1e-4 * n + 4e-8 * n**3


def soft_condorcet(n: int, T: int) -> float:
    """Of descending to a minimum: larger boards take more steps, up to a limit of work."""
    return pairwise(n, T) + 2e-2 + 4e-5 * n * n if n <= 300 else pairwise(n, T) + 3.6 + 8e-6 * n * n


def descent_at_once(n: int, T: int) -> float:
    """Of one of many boards, of descending to a minimum."""
    return 6e-4 + 4.5e-8 * n**3


def rounds_at_once(n: int, T: int) -> float:
    """Of one of many boards, of locking in victories or fitting strengths."""
    return 1e-4 + 3e-7 * n * n


def bradley_terry(n: int, T: int) -> float:
    """Of fitting strengths."""
    return pairwise(n, T) + 4e-3 + 1.5e-6 * n * n + 4e-10 * n**3


def picks_at_once(n: int, T: int) -> float:
    """Of one of many boards, of fitting strengths to orders."""
    return 1e-4 + 4e-7 * n * T + (2e-7 + 2e-9 * T) * n * n


def plackett_luce(n: int, T: int) -> float:
    """Of fitting strengths to orders."""
    return pairwise(n, T) + 4e-3 + 1e-6 * n * T + 1.6e-8 * n * n * T + 4e-10 * n**3


def rounds(n: int, T: int) -> float:
    """Of rounds on Borda scores."""
    return pairwise(n, T) + 8e-6 * n + 1e-8 * n * n


def votes(n: int, T: int) -> float:
    """Of rounds on first or last places."""
    return sorting(n, T) + 1.2e-5 * n + 1e-10 * n * n * T


def threshold(n: int, T: int) -> float:
    """Of counting positions from the last on."""
    return sorting(n, T) + 4e-7 * n * T


def win_rate(n: int, T: int) -> float:
    """Of averaging over rivals."""
    return pairwise(n, T) + 1e-7 * n * n


def differences(n: int, T: int) -> float:
    """Of comparing the scores of all pairs, task by task."""
    return pairwise(n, T) + 8e-6 * T + 1.5e-9 * n * n * T
