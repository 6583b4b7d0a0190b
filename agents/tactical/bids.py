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
    ("grab", "any", "grab"): (37.86, 21.81, 15.76, -7.58, 0.05, -20.28, 0),
    ("grab", "any", "decline"): (-0.1, 1.6, 1.04, -0.61, 0.34, -1.5, 0),
    ("call", "any", "cede"): (-0.52, 0.76, 0.84, -0.65, 0.44, 0, 0),
    ("call", "any", "call"): (2.9, 1.56, 1.62, -0.58, 0.05, 0, 1.32),
    ("declare", "guard", "declare"): (2.57, 1.36, 0.69, -0.49, 0.17, 0, 0),
    ("declare", "guard", "silent"): (2.77, 0.65, 0.32, -0.11, -0.13, 0, 0),
}
_SHIWEI: Bids = {
    ("grab", "any", "grab"): (64.41, 23.94, 15.96, -10.12, -0.43, -22.67, 0),
    ("grab", "any", "decline"): (3.2, 1.24, 0.87, -0.67, 0.17, -0.38, 0),
    ("call", "any", "cede"): (2.48, 0.47, 0.52, 0.11, -0.44, 0, 0),
    ("call", "any", "call"): (5.15, 1.65, 1.46, -1.08, 0.43, 0, 0.42),
    ("declare", "guard", "declare"): (3.72, 0.98, 0.63, -0.67, 0.24, 0, 0),
    ("declare", "guard", "silent"): (3.54, 0.27, 0.34, -0.3, 0.01, 0, 0),
}
_WEIHAI: Bids = {
    ("solo", "any", "decline"): (4.38, 1.73, 1.04, -1.04, 0.24, -0.75, 0),
    ("solo", "any", "solo"): (34.08, 21.35, 12.19, -6.68, -4.42, -0.73, 0),
    ("solo_ti", "rebel", "silent"): (6.21, 0.92, 0.4, -0.67, -0.08, 0.23, 0),
    ("solo_ti", "rebel", "ti"): (14.15, 1.52, 1.34, -0.41, -1.41, 0.74, 0),
    ("abandon", "emperor", "keep"): (-22.52, 18.72, 11.37, -9.25, 4.74, 0, 0),
    ("abandon", "emperor", "abandon"): (15.5, 2.04, -1.14, -1.02, -1.06, 0, 0),
    ("offer", "rebel", "accept"): (-7.87, 3.08, 2.2, 0.56, -0.02, 0, 0),
    ("offer", "rebel", "refuse"): (0.78, 0.6, 0.68, -0.14, 0.09, 0, 0),
    ("declare", "guard", "declare"): (5.77, 3.02, 2.21, -2.15, 0.81, 0, 0),
    ("declare", "guard", "silent"): (5.61, 1.54, 1.05, -0.99, 0.08, 0, 0),
    ("oppose", "rebel", "silent"): (0.47, 0.41, 0.46, -0.37, 0.25, 0, 0),
    ("oppose", "rebel", "oppose"): (5.3, 0.59, 0.64, -0.64, -0.06, 0, 0),
    ("niu", "emperor", "silent"): (7.14, 3.24, 1.79, -1.84, 0.27, 0, 0),
    ("niu", "emperor", "niu"): (-4.44, 3.01, 2.14, 0.21, -0.44, 0, 0),
    ("niu", "guard", "silent"): (5.41, 1.73, 0.96, -0.63, -0.21, 0, 0),
    ("niu", "guard", "niu"): (21.87, 0.12, 2.11, -1.89, -0.94, 0, 0),
    ("niu", "rebel", "silent"): (1.2, 0.93, 0.63, -0.24, -0.1, 0, 0),
    ("niu", "rebel", "niu"): (-0.63, 2.32, 1.9, -1.31, 0.72, 0, 0),
    ("ti", "emperor", "silent"): (-11.04, 4.64, 0.35, -0.6, 0.66, 0, 0),
    ("ti", "emperor", "ti"): (-12.21, 8.98, 3.22, -6.47, 5.06, 0, 0),
    ("ti", "guard", "silent"): (-4.31, 1.45, 3, 1.06, -1.01, 0, 0),
    ("ti", "rebel", "silent"): (-1.09, 1.26, 1.3, -0.78, 0.59, 0, 0),
    ("ti", "rebel", "ti"): (1.49, 0.09, 1.24, -0.45, 0.13, 0, 0),
}
# fmt: on
BIDS: Final = {"qingdao": _QINGDAO, "shiwei": _SHIWEI, "weihai": _WEIHAI}
