"""Self-play against others than oneself: a league of frozen opponents, and exploiters of one."""
