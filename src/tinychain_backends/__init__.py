"""First-party consumers of the skeleton: each reaches it by its public names alone."""
