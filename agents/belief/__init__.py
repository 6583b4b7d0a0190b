"""Who is guard, as chances: predictors with one protocol, from uniform to learned ones."""

from lupai.agents.belief.base import BeliefError, Predictor, ask_predictor, candidates
from lupai.agents.belief.registry import PREDICTORS, load_predictor
from lupai.agents.belief.views import HandViews, PublicLog, hand_views

__all__ = [
    "PREDICTORS",
    "BeliefError",
    "HandViews",
    "Predictor",
    "PublicLog",
    "ask_predictor",
    "candidates",
    "hand_views",
    "load_predictor",
]
