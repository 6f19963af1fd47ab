# The Python interface of diff.py.

from dedupcrawl.core.digests import Secret

TEMPLATE: int  # kinds of differences
SLOT: int
COUNTED: int
FILLER: int
ADDED: int
LEFT_OUT: int
LONGER: int
REPLACED: int
REWORDED: int
RENAMED: int
NAMED: int
MEASURED: int
DATED: int
FIGURED: int
TURNED: int
SWAPPED: int
DIFFERENCES: int
TOP: int  # places
HEAD: int
SENTENCE: int
LINE: int
CLOSING: int
FOOT: int
FACT: int
SECTIONS: int

Text = tuple[bytes, bytes, bytes, list[int]]

def differences(new: Text, kept: Text, in_kept: bytes, in_new: bytes, pieces: bytes, secret: Secret) -> bytes: ...
