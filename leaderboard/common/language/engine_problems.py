"""What the engine finds wrong with parameters of studies and with rules, and why a study has nothing to say.

Each is a sentence without its full stop: pages say it alone or within another sentence. Options in names of rules are
here, too.
"""

from django.utils.translation import gettext_noop

# What has a name, as errors about names call it.
THINGS = (
    gettext_noop("benchmark"),
    gettext_noop("cluster"),
    gettext_noop("frozen revision"),
    gettext_noop("group"),
    gettext_noop("meta-board"),
    gettext_noop("system"),
    gettext_noop("task"),
)
PROBLEMS = (
    # What cannot be a name.
    gettext_noop("the %(thing)s name %(name)s is empty"),
    gettext_noop("the %(thing)s name %(name)s has %(n)s characters; at most %(most)s are allowed"),
    gettext_noop("the %(thing)s name %(name)s holds the invisible or control character %(character)s; leave it out"),
    gettext_noop("the %(thing)s name %(name)s has more than %(n)s marks on one letter"),
    gettext_noop("the %(thing)s name %(name)s begins with %(sign)s, which spreadsheets take for a formula"),
    gettext_noop(
        "the %(thing)s name %(name)s holds %(part)s, which spreadsheets that split cells at semicolons take for a "
        "formula"
    ),
    gettext_noop(
        "the %(thing)s name %(name)s mixes alphabets in %(part)s, which could pass as Latin; write %(letters)s as a "
        "word of its own"
    ),
    # What a study cannot say something about.
    gettext_noop("no rule ranks these systems"),
    gettext_noop("no systems are named"),
    gettext_noop("fewer than two systems are ranked"),
    gettext_noop("fewer than two systems have all scores"),
    gettext_noop("fewer than two systems have a score on a task of weight above 0"),
    gettext_noop("on every task all systems are equal"),
    gettext_noop("it names a winner and does not rank"),
    gettext_noop("1 system with scores; at least 2 are needed"),
    gettext_noop("a top of %(size)s has no pair"),
    gettext_noop("1 system with a score: no other system could join the first 2"),
    gettext_noop("%(n)s systems with a score: no other system could join the first 2"),
    gettext_noop("only %(n)s systems have a score; %(size)s make the top"),
    gettext_noop("systems with scores: %(n)s; at least 3 are needed to correlate rankings"),
    gettext_noop("systems with scores: %(n)s; at least 3 are needed for a newcomer and two others"),
    gettext_noop(
        "too few systems (%(n)s) or tasks of weight above 0 (%(n_tasks)s): at least 3 systems and 2 tasks are needed"
    ),
    gettext_noop("too few systems (%(n)s) or tasks of weight above 0 (%(n_tasks)s): at least 2 of each are needed"),
    gettext_noop("%(n)s systems are ranked and %(top)s are the first; at least 2 of them and 1 other are needed"),
    gettext_noop("%(n)s systems are ranked; closest orders are computed for at most %(most)s"),
    gettext_noop("%(n)s systems, %(n_tasks)s tasks and %(n_instances)s instances make more than %(most)s scores"),
    gettext_noop("%(n)s tasks cannot be drawn from %(n_tasks)s: at most %(most)s times as many can"),
    gettext_noop("there are %(n_tasks)s tasks, fewer than `n_manipulated` asks for"),
    gettext_noop("scores are predicted for up to %(n)s cells"),
    gettext_noop("fewer than %(n)s scores on two tasks or more, each with two different ones"),
    gettext_noop("at least %(least)s and at most %(most)s of the first %(places)s places are asked for"),
    gettext_noop("%(least)s of the first %(places)s places are asked for; %(n)s systems are named"),
    gettext_noop("at most %(most)s of the first %(places)s places are asked for; only %(n)s other systems are ranked"),
    gettext_noop(
        "ranking %(n)s of %(of)s repeats would take about %(seconds)s s; %(left)s s of %(budget)s s are left for such "
        "rules"
    ),
    gettext_noop("%(rule)s takes too long on %(n)s systems"),
    gettext_noop("%(rule)s names a winner and does not rank"),
    # What a study could not prove or test.
    gettext_noop("scores under %(rule)s are no sums over the tasks of this board"),
    gettext_noop("there are too many pairs"),
    gettext_noop("there are too many pairs and rivals"),
    gettext_noop("a score is missing"),
    gettext_noop("tied systems share points"),
    gettext_noop("none is known for %(rule)s"),
    gettext_noop("there are fewer than two systems to compare"),
    gettext_noop("scores are missing"),
    gettext_noop("tasks have different weights"),
    gettext_noop("several tasks belong to one group and are not independent"),
    gettext_noop("there are %(n)s tasks, fewer than %(least)s"),
    gettext_noop(
        "there are %(n)s systems, more than %(most)s: two average ranks would have to differ by %(difference)s of "
        "%(of)s"
    ),
    # What significance tests suppose, and what to bear in mind.
    gettext_noop("whether two systems differ depends on which others are in the pool"),
    gettext_noop(
        "on each task, or cluster of tasks, the difference of the two systems is as likely with either sign. Systems "
        "of equal means do not satisfy it where one of them is skewed, and are then called different more often than "
        "the level says: in simulations of very skewed scores up to 15 %% of the time instead of 5 %%"
    ),
    # Single instances, and items of tests.
    gettext_noop("no task of weight above 0 has scores of single instances"),
    gettext_noop("not computed for more than %(most)s scores of single instances (here %(n)s)"),
    gettext_noop("the task has hidden references, and single instances would give them away"),
    gettext_noop("its scores are not all 0 or 1"),
    gettext_noop("%(n)s responses; at most %(most)s are fitted"),
    gettext_noop("only %(n)s systems have responses; at least %(least)s are needed"),
    gettext_noop("only %(n)s instances are right for some systems and wrong for others; at least %(least)s are needed"),
    # Parameters of studies.
    gettext_noop("`first_by` is %(value)s; expected a rule that ranks fast, such as mean or borda"),
    gettext_noop("`first_by`: %(rule)s ranks no system here: %(why)s"),
    gettext_noop("`copied_tasks` names %(value)s; there is no such task"),
    gettext_noop("`systems` names %(value)s; there is no such system"),
    gettext_noop("`pool` names %(value)s, which is no system of the board"),
    gettext_noop("`levels` is %(value)s; expected percentages from 0 to below 100"),
    gettext_noop("`least_weight` is %(value)s; expected a share above 0, at most 1"),
    gettext_noop("`level` is %(value)s; expected a share between 0 and 1, such as %(example)s"),
    gettext_noop("`%(name)s` has %(n)s values; at most %(most)s are taken"),
    gettext_noop("`%(name)s`: expected finite numbers"),
    gettext_noop("`%(name)s` is %(value)s: expected numbers, such as %(example)s"),
    gettext_noop("`%(name)s` is %(value)s: expected a value like %(example)s"),
    gettext_noop("`%(name)s` is %(value)s; expected a whole number from %(least)s to %(most)s"),
    gettext_noop("`%(name)s` is %(value)s; expected a number from %(least)s to %(most)s"),
    gettext_noop("`%(name)s` is %(value)s; expected at least %(least)s"),
    gettext_noop("`%(name)s` is %(value)s; this study expects one of %(names)s"),
    gettext_noop("`%(name)s` is %(value)s; expected one of %(names)s"),
    gettext_noop("`%(name)s` holds the invisible or control character %(character)s; leave it out"),
    gettext_noop("`%(name)s` names %(value)s, which needs %(options)s"),
    # Variants of rules, and rules that are combined from others.
    gettext_noop("%(place)s: `vector` is %(value)s; expected numbers that do not rise, such as 12,10,8"),
    gettext_noop("%(key)s: the name of the task is empty"),
    gettext_noop("%(key)s: the name of the task holds the invisible or control character %(character)s; leave it out"),
    gettext_noop("%(key)s has %(n)s rules; at most %(most)s are combined"),
    gettext_noop("%(key)s names a rule twice"),
    gettext_noop("%(key)s: ties are broken by one rule"),
    gettext_noop("%(key)s: %(part)s cannot be combined: it ranks no system"),
    gettext_noop("%(key)s: %(part)s cannot be combined: it needs options"),
    gettext_noop("%(key)s: expected RULE[NAME=VALUE], such as copeland[variant=lower]"),
    gettext_noop("%(key)s: a time limit makes no variant of a rule"),
    gettext_noop("%(key)s states %(name)s twice"),
    gettext_noop("%(key)s: a number in %(name)s has more than %(n)s digits"),
    gettext_noop("%(key)s: the rule %(part)s needs %(options)s"),
    gettext_noop("%(key)s: a key has at most %(n)s characters"),
    gettext_noop("%(place)s: no such option; %(part)s has none"),
    gettext_noop("%(place)s: no such option; %(part)s has %(names)s"),
    gettext_noop("%(place)s: expected one of %(names)s"),
    gettext_noop("%(place)s: expected a number from %(least)s to %(most)s"),
    gettext_noop("%(n)s variants; at most %(most)s are ranked"),
    gettext_noop("%(key)s: a variant has at most %(n)s characters"),
    gettext_noop("%(key)s: expected letters, digits and hyphens, such as the key of a task"),
    gettext_noop("%(key)s is %(rule)s itself, which every board has"),
    gettext_noop("%(key)s: names may decide between equals under %(rule)s: not combined here"),
    # Fields of systems: what a value may be, and that one is not.
    gettext_noop("a text of at most %(n)s characters"),
    gettext_noop("a number such as 7000000000, 7B or 0.15"),
    gettext_noop("a date such as 2024, 2024-05 or 2024-05-31"),
    gettext_noop("yes or no"),
    gettext_noop("a URL that begins with http:// or https://"),
    gettext_noop("one of %(names)s"),
    gettext_noop("it is not %(allowed)s"),
    gettext_noop("%(value)s is not %(allowed)s"),
    gettext_noop("it is closer to 0 than %(least)s; write 0, or use a smaller unit"),
    # Names that people write.
    gettext_noop("The name is empty."),
    gettext_noop("The name has %(n)s characters; at most %(most)s are allowed."),
    gettext_noop("The name holds the invisible or control character %(character)s; leave it out."),
    gettext_noop("The name has more than %(n)s marks on one letter."),
    gettext_noop(
        "The name mixes alphabets in %(word)s, which could pass as Latin; write %(names)s as a word of its own."
    ),
    gettext_noop("The display name is empty."),
    gettext_noop("The display name has %(n)s characters; at most %(most)s are allowed."),
    gettext_noop("The display name holds the invisible or control character %(character)s; leave it out."),
    gettext_noop("The display name has more than %(n)s marks on one letter."),
    gettext_noop(
        "The display name mixes alphabets in %(word)s, which could pass as Latin; write %(names)s as a word of its own."
    ),
    gettext_noop("The name begins with %(sign)s, which spreadsheets take for a formula."),
    gettext_noop("The name holds %(sign)s, which spreadsheets that split cells at semicolons take for a formula."),
    # Options in the names of rules, such as `Plurality (ties by Borda)`.
    gettext_noop("ties by %(rule)s"),
    gettext_noop("in the unit of %(task)s"),
    gettext_noop("prior %(number)s"),
    gettext_noop("temperature %(number)s"),
)
