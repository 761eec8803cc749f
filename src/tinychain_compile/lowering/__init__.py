"""From scheduled operations to target values, through a backend's handlers and fusion hook."""
