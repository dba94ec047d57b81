"""Broken promises that are known: (name of the check, in which scenarios, why it stands here).

An entry is removed when its mend has landed. A failure that an entry covers is counted, not reported.
"""



def section(scenario, name):
    value = scenario.get(name)
    return value if isinstance(value, dict) else {}


def horovod(scenario, seen):
    return section(scenario, "communication").get("schedule") == "horovod"


KNOWN = [
    ("compute", horovod, "horovod: the wait for a tick counts as computing"),
]


def known(name, scenario, seen):
    """The words of the entry that covers a failure, or None."""
    for check, covers, words in KNOWN:
        if check == name and covers(scenario, seen):
            return words
    return None
