"""Who is the guard? Data, training and scores of predictors of the hidden partner."""
