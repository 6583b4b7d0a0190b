"""够级 (Gouji): six players, three against three, four packs and attached 2s.

``rules`` options; ``state`` arrays; ``sets``, ``actions`` and ``legal`` what may be played;
``dealing`` first leader, ``tribute``, ``revolution`` before the first lead; ``orders`` who may be
asked; ``play`` tricks, burning and leaving; ``scoring``; ``engine`` ties them together.
"""
