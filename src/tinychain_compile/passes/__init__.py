"""What happens to graphs between differentiation and lowering."""
