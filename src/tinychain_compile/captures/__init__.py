"""Which values of the forward run the derivative reads, and which it makes again."""
