"""Families of perturbed environments."""
