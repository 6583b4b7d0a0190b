"""What the fuzz tests throw at everything: texts and values that are nearly right or not at all."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("LUPAI_FUZZ", "60")),  # of each property
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
FUZZ = settings.get_profile("fuzz")
JUNK = st.text(max_size=30) | st.sampled_from(
    ["", " ", "\x00", "\ud800", "\u2028", "٣", "９c", "𝟗c", "é", "\u0301", "\U0001f0cf", "NaN"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | JUNK,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JUNK, inner, max_size=3),
    max_leaves=6,
)
MOVES = st.builds(
    lambda parts, gap: gap.join(parts),
    st.lists(
        st.sampled_from(["0", "3", "5", "-1", "play", "pass", "call", "9c", "9c*", "R*", "B", "X",
                         "open", "secret", "yield", "ti", "niu", "*", "9", "declare"]) | JUNK,
        max_size=6,
    ),
    st.sampled_from([" ", "  ", "\t", ""]),
)  # fmt: skip
