"""Call a learner's function, and tell of the call in words of our own.

Exercises 7 and 8 call functions on parameters and on other functions, whose written form is too
long for a line. The check then names the case instead: `kinship(a, its clone)`.
"""

from coursekit.checks.answers import Answer, Function
from coursekit.checks.mistakes import NotStarted, Wrong


def call_as(words: str, function: Function, *arguments: object) -> Answer:
    """Return what the function returns, labelled as `function(words)`, as are its failures."""
    written, label = function.called_with(*arguments), f"{function.name}({words})"
    try:
        given = function(*arguments)
    except NotStarted as missing:
        raise NotStarted(str(missing).replace(written, label)) from None
    except Wrong as wrong:
        raise Wrong(wrong.got.replace(written, label), wrong.expected, wrong.hint) from None
    given.label = label
    return given
