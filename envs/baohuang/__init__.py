"""保皇 (Baohuang): five players, an emperor, and a guard whom nobody may know.

``rules`` options; ``state`` arrays; ``roles`` everything before the first lead; ``play`` tricks;
``legal`` legal moves; ``scoring``; ``observation``; ``engine`` ties them together.
"""
