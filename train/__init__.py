"""Training and evaluation; what needs torch or Ray imports it inside."""
