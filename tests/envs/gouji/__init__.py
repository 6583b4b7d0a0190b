"""Gouji."""
