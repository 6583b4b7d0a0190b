"""Who is the guard: posteriors and predictors of the hidden partner."""
