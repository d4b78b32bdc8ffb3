"""What a dry run says of an upload, as a table with its notes."""

from plurank.client.uploads import changes_of
from plurank.command_line.outputs import written


def rule(key, *changes, winners=("Ada",), unranked=(), n_more=0):
    rows = [{"name": name, "before": before, "after": after} for name, before, after in changes]
    return {
        "rule": key, "changes": rows, "n_changes": len(rows) + n_more, "winner_names_after": list(winners),
        "unranked": list(unranked),
    }  # fmt: skip


def preview(*rules, new=(), is_accepted=False):
    systems = [{"name": name, "is_new": name in new} for name in ("Ada", "Zed")]
    return {"rules": list(rules), "systems": systems, "would_be_accepted": is_accepted}


def test_a_dry_run_that_changes_nothing_says_so_and_has_no_empty_table():
    unchanged = preview(rule("borda"), rule("condorcet", winners=["Bob"], unranked=["Ada", "Zed"]),
                        rule("bradley_terry", winners=[], unranked=["Ada", "Zed"]))  # fmt: skip
    assert written(changes_of(unchanged), "table") == (
        "No rank would change; a moderator would decide, nothing is stored\n"
    )


def test_ranks_that_the_site_keeps_to_itself_are_not_said_to_stay():
    assert written(changes_of(preview(is_accepted=True)), "table") == (
        "The site does not say which ranks would change; would be accepted at once, nothing is stored\n"
    )


def test_notes_name_rules_and_say_only_what_the_submission_changes():
    said = preview(
        rule("borda", ("Zed", None, 1), ("Ada", 1, 2), n_more=1_000),
        rule("geometric_mean", ("Ada", 1, None), winners=["Bob"], unranked=["Ada", "Zed"]),
        rule("condorcet", winners=["Bob"], unranked=["Ada", "Zed"]),
        rule("plackett_luce", winners=[], unranked=["Ada", "Zed"]),
        rule("of_a_newer_site", winners=["Bob"], unranked=["Zed"]),
        new=["Zed"],
        is_accepted=True,
    )
    assert written(changes_of(said), "table") == (
        "Ranks that would change; would be accepted at once, nothing is stored\n"
        "\n"
        "rule            system  before  after\n"
        "borda              Zed       –      1\n"
        "borda              Ada       1      2\n"
        "geometric_mean     Ada       1      –\n"
        "\n"
        "Ada would have no rank under Geometric mean\n"
        "Zed would have no rank under Geometric mean, of_a_newer_site\n"
        "and 1,000 more ranks would change, which the site does not list\n"
    )
