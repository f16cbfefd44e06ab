"""Kills `create-pool` and cuts the machine's power, at every step of every template's plan.

Afterwards the next runs must finish or explain, no pool may be lost, and what others have on the machine must be as it
was. Everything is real: the pools, the kills, and the machine that loses its power is a testbed.
"""
