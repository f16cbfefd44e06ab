"""The errors that a person sees: one line that names the thing, and the way out."""


class ZmysqlError(Exception):
    """Something failed; the message names the thing and the way out. Exit status 1."""

    exit_status = 1


class UsageError(ZmysqlError):
    """What was asked for can't be meant; the message says what can. Exit status 2."""

    exit_status = 2
