"""Runs in the guest."""
