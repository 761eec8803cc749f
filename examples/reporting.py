"""How the examples show progress."""

from __future__ import annotations

from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(**options: Any) -> Progress:
    """Return a bar for each task with its loss and the time that is left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, **options)
