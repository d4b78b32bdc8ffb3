"""What the chooser says of Pavao's recommendation: the figures are those of the authors' result files."""

from leaderboard.boards.rule_advice import RECOMMENDATIONS
from reproduction.pavao_matrices import stability_facts
from tests.reference import reference_folder


def test_the_stabilities_in_the_chooser_are_those_of_the_result_files():
    reference_folder()
    (text,) = (one.text for one in RECOMMENDATIONS if one.section == "pavao")
    facts = {key: f"{value:.3f}" for key, value in stability_facts().items()}
    all_six = "{relative_difference} for the relative difference and {average_rank} for the average rank over six"
    without = "{relative_difference_others} and {average_rank_others} without the matrix Artificial"
    assert all_six.format(**facts) in text
    assert without.format(**facts) in text
    assert "They print {printed};".format(**facts) in text
