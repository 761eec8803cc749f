"""Tells a backend author whether a backend is right: a container and an adapter are enough."""
