"""Changes all gradients at once, as tensor code appended to the derivative program."""
