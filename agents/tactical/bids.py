"""What answers before the first lead are worth, by features of the hand.

Made by ``tools/fit_tactical_bids.py``; see :mod:`lupai.agents.tactical.bidding` for the features.
An answer that is missing is not given unless nothing else is legal.
"""

from __future__ import annotations

from typing import Final

from lupai.agents.tactical.bidding import Bids

# fmt: off
# (question, role, answer): one, big, small, weak, sets, crown, rank
_QINGDAO: Bids = {
    ("grab", "any", "grab"): (81.46, 17, 15.45, -12.2, 1.54, -21.24, 0),
    ("grab", "any", "decline"): (2.13, 1.18, 0.91, -0.57, 0.18, -0.83, 0),
    ("call", "any", "cede"): (2.37, 0.86, 0.6, -0.4, -0.01, 0, 0),
    ("call", "any", "call"): (3.73, 1.5, 1.22, -0.74, 0.15, 0, 1.46),
    ("declare", "guard", "declare"): (4.86, 1.54, 1.08, -0.59, 0.05, 0, 0),
    ("declare", "guard", "silent"): (2.58, 0.85, 0.47, -0.3, 0.03, 0, 0),
}
_SHIWEI: Bids = {
    ("grab", "any", "grab"): (71.87, 18.97, 12.92, -7.8, -1.19, -21.94, 0),
    ("grab", "any", "decline"): (1.65, 1.21, 0.77, -0.57, 0.2, -0.3, 0),
    ("call", "any", "cede"): (-0.53, 0.57, 0.48, -0.25, 0.09, 0, 0),
    ("call", "any", "call"): (4.67, 1.24, 0.97, -0.67, 0.21, 0, 0.97),
    ("declare", "guard", "declare"): (4.08, 0.91, 0.77, -0.38, 0.01, 0, 0),
    ("declare", "guard", "silent"): (1.3, 0.42, 0.37, -0.23, 0.12, 0, 0),
}
_WEIHAI: Bids = {
    ("solo", "any", "decline"): (1.79, 1.48, 1.02, -0.61, 0.12, 0.56, 0),
    ("solo", "any", "solo"): (-20.93, 20.55, 15.23, -5.44, 1.64, -2.27, 0),
    ("solo_ti", "rebel", "silent"): (1.3, 3.73, 0.48, -1.73, 1, -0.95, 0),
    ("solo_ti", "rebel", "ti"): (15.5, 2.52, 2.01, -0.79, -1.56, -0.26, 0),
    ("abandon", "emperor", "keep"): (9.65, 11.04, 6.25, -2.52, -1.38, 0, 0),
    ("abandon", "emperor", "abandon"): (11.39, 0.21, 0.32, -0.63, -1.07, 0, 0),
    ("offer", "rebel", "accept"): (1.18, 1.79, 1.02, -0.19, -0.13, 0, 0),
    ("offer", "rebel", "refuse"): (0.26, 0.37, 0.27, 0.25, -0.12, 0, 0),
    ("declare", "guard", "declare"): (0.77, 1.92, 1.05, -0.74, 0.42, 0, 0),
    ("declare", "guard", "silent"): (1.45, 1.12, 0.63, -0.52, 0.21, 0, 0),
    ("oppose", "rebel", "silent"): (0.81, 0.42, 0.3, -0.17, -0.04, 0, 0),
    ("oppose", "rebel", "oppose"): (-0.47, 0.84, 0.56, -0.57, 0.36, 0, 0),
    ("niu", "emperor", "silent"): (1.06, 3.32, 1.98, -0.25, -0.42, 0, 0),
    ("niu", "emperor", "niu"): (22.43, 3.41, 2.5, -2.48, -0.68, 0, 0),
    ("niu", "guard", "silent"): (9.48, 1.52, 0.44, -0.66, -0.48, 0, 0),
    ("niu", "guard", "niu"): (9.95, 3.96, 0.74, -0.36, -1.03, 0, 0),
    ("niu", "rebel", "silent"): (-0.24, 0.88, 0.6, -0.71, 0.41, 0, 0),
    ("niu", "rebel", "niu"): (-0.28, 1.23, 1.1, -0.9, 0.42, 0, 0),
    ("ti", "emperor", "silent"): (2.61, 8.8, 3.34, -0.48, -1.15, 0, 0),
    ("ti", "emperor", "ti"): (8.07, 16.77, 5.74, -4.04, -0.12, 0, 0),
    ("ti", "rebel", "silent"): (0.26, 1.29, 0.91, -0.71, 0.4, 0, 0),
    ("ti", "rebel", "ti"): (-13.31, 1.9, 1.58, -0.63, 1.44, 0, 0),
}
# fmt: on
BIDS: Final = {"qingdao": _QINGDAO, "shiwei": _SHIWEI, "weihai": _WEIHAI}
