"""The rules over an assignment of disks to roles: what would be unsafe, wasteful or impossible. Pure.

A rule takes a `Case` and yields refusals, and lines that a person should read although nothing is refused.
A refusal names the override that lifts it, where there is one.
"""
