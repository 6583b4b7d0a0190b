"""够级 (Gouji): six players, three against three, four packs and attached 2s.

``rules`` options; ``state`` arrays; ``sets``, ``actions``, ``tables`` and ``legal`` what may be
played; ``dealing`` first leader; ``before`` the first lead, with ``tribute`` and ``revolution``;
``orders`` and ``tricks`` who is asked; ``play`` sets and burning; ``leaving``, ``scoring``;
``observation``, ``hidden``, ``notation``, ``texts``, ``render``; ``engine`` ties them together.
"""
