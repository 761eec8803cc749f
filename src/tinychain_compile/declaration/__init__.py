"""Checks what the caller declares, before any of the caller's code runs."""
