"""Resources: the images and files of a page, each reduced to the part of its URL that identifies it on any host.

One picture has many URLs: sites store it in several sizes and on several hosts, and add its age or a session id as a
query. The identity is the last folder and the file name without all that. If the path names no file, it is the end of
the path and the query arguments that select a resource. Decoration is recognized by words in its folder, its file name
or the attributes of its element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from dedupcrawl.core.characters import collapse
from dedupcrawl.core.digests import digest_of

_SMALL = 48
"""Pixels; an image no wider and no higher than this is an icon. (Forum icons are 46 by 25.)"""
_STAND_IN = 400  # bytes; a shorter data: URL is a placeholder, shown until the real image is loaded
_PICTURE_NAMES = """
avif bmp gif ico jfif jpe jpeg jpg png svg tif tiff webp
"""
_PICTURES = frozenset(_PICTURE_NAMES.split())
_FILE_NAMES = """
3gp 7z aac ai apk avi azw3 bz2 csv deb dmg doc docx epub exe flac flv gz ics iso jar kml m4a m4v mid mkv mobi mov mp3
mp4 mpeg mpg msi odp ods odt ogg ogv pdf pkg ppt pptx ps psd rar rpm rtf tar tgz torrent wav webm wma wmv xls xlsx xz
zip
"""
FILES = frozenset(_FILE_NAMES.encode().split())
"""File extensions of downloads, which are no web pages, as bytes."""
_EXTENSION = re.compile(r"\.([a-z][a-z0-9]{1,4}|7z|3gp)$")
_PROGRAM_NAMES = """
php php3 php4 php5 phtml asp aspx ashx axd jsp jspx do cgi pl py htm html shtml cfm
"""
_PROGRAMS = frozenset(_PROGRAM_NAMES.split())
_DECORATION_NAMES = """
ad ads arrow arrows avatar avatars badge badges banner banners beacon blank btn bullet bullets button buttons captcha
counter counters emoji emojis emoticon emoticons favicon flag flags ico icon icons loader loading logo logos pixel
placeholder rank ranks smile smiles smiley smileys smilie smilies spacer spinner sponsor sponsors sprite sprites
tracking transparent
"""
_DECORATION = frozenset(_DECORATION_NAMES.split())
_LETTERS = re.compile(r"[a-z]+")
_DESIGN_NAMES = """
themes theme templates template skins skin styles style style_images wp-includes plugins smilies emoticons
"""
_DESIGN = frozenset(_DESIGN_NAMES.split())
"""Folders whose files belong to a site's design."""
_SIZED = re.compile(
    r"(?:[-_.]?\d{1,4}x\d{1,4}|[-_.@](?:thumb(?:nail)?s?|tn|small|medium|large|big|full|scaled|preview|mini|\dx"
    r"|\d{1,4}(?:px|w|h))|@\dx)\Z"
)
_LONGEST_SIZE = 12  # characters that `_SIZED` can match, at the end of a name
_SIZE_BEFORE = re.compile(r"^(?:\d{1,4}px|thumb(?:nail)?|tn|small|medium|large|preview)[-_]")
_SIZE_FOLDER = re.compile(
    r"(?:\d{1,4}x\d{0,4}|\d{1,4}px|thumb(?:nail)?s?|small|medium|large|preview|original|resized?|[a-z]{1,2}[_-]?\d+"
    r"(?:,[a-z]{1,2}_[\w:]+)*|[wh]_\d+.*|[0-9a-f]{32,64}|cache)$"
)
_FLEETING = re.compile(
    r"(?:php|j|asp)?sess(?:ion)?_?(?:id|key)?|sid|osc?sid|zenid|token|csrf\w*|auth|sig(?:nature)?|expires?|hash|nonce"
    r"|ts|time(?:stamp)?|rand(?:om)?|rnd|cb|cache\w*|bust|ver|version|rev|mtime|modified|w|h|width|height|size|sz"
    r"|resize|fit|crop|quality|dpr|format|fm|auto\w*|rel|controls|origin|utm_\w+|ref|referer|url_referrer|lang|hl"
)
"""Names of query arguments that say how, when or for whom something is shown."""
_TIME = re.compile(r"[0-9.]{6,}|[0-9a-f]{32,64}")
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(r"[{}\\|]|://")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TOKEN = re.compile(r"(?=\S*\d)[\w+/=:.-]{16,}")
_FILE_NAME = re.compile(r"\S*\.(?:jpe?g|png|gif|webp|svg|bmp)", re.IGNORECASE)
_ENOUGH = 4  # non-ASCII letters that make a text without spaces: their script may need none


@lru_cache(maxsize=4096)  # the pages of a site show the same resources
def identity(address: bytes) -> str:
    """The part of a URL that identifies its resource; empty for decoration and for anything that is no address.

    >>> identity(b"http://a.example/2024/05/Bridge-300x200.jpg?ver=3"), identity(b"/static/icons/home.png")
    ('05/bridge', '')
    """
    if address[:5].lower() == b"data:":
        return f"data:{digest_of(address).hex()}" if len(address) > _STAND_IN else ""
    text = unquote_to_bytes(address.partition(b"#")[0]).decode("utf-8", "replace").lower().strip()
    if "{" in text or text.startswith(("javascript:", "about:", "blob:", "mailto:")):
        return ""
    path, _, query = text.partition("?")
    before, _, path = path.rpartition("://")
    if before or path.startswith("//"):
        host, _, path = path.removeprefix("//").partition("/")
        if not path:
            path = host
    folders = [part for folder in path.split("/") if (part := folder.partition(";")[0]).strip(".")]
    if not folders or _DESIGN.intersection(folders[:-1]) or _decorates("/".join(folders[-3:])):
        return ""
    named = _EXTENSION.search(folders[-1])
    if named is None or named[1] in _PROGRAMS:
        arguments = sorted(filter(_chooses, re.split("[&;]", query)))
        return "?".join(("/".join(folders[-2:]), "&".join(arguments)) if arguments else ("/".join(folders[-2:]),))
    name = folders[-1][: named.start()] if named[1] in _PICTURES else folders[-1]
    name = _unsized(name)
    above = [folder for folder in folders[:-1] if not _SIZE_FOLDER.fullmatch(folder)]
    plain = _unsized(_EXTENSION.sub("", name)) if above else ""
    while above and _unsized(_EXTENSION.sub("", above[-1])) == plain:
        above.pop()  # MediaWiki keeps the sizes of a picture in a folder named after it
    return "/".join((*above[-1:], name))


def _unsized(name: str) -> str:
    """A file name without the parts that give the size of the picture."""
    for _ in range(2):
        sized = _SIZED.search(name, max(0, len(name) - _LONGEST_SIZE))
        name = _SIZE_BEFORE.sub("", name[: sized.start()] if sized else name) or name
    return name


def _chooses(argument: str) -> bool:
    """Whether a query argument selects one of several resources."""
    name, _, value = argument.partition("=")
    if not argument or _FLEETING.fullmatch(name):
        return False
    return not _TIME.fullmatch(value if len(name) == 1 else "" if value else name)


def is_small(attributes: Mapping[str, str]) -> bool:
    """Whether the attributes of an element say that it is no larger than an icon, or that it is not shown."""
    sides = [side for name in ("width", "height") if (side := attributes.get(name, "").removesuffix("px")).isdecimal()]
    is_icon = len(sides) == 2 and all(len(side) < 5 and int(side) <= _SMALL for side in sides)
    is_hidden = "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")) is not None
    return is_icon or is_hidden or any(side.strip("0") in ("", "1") and len(side) < 3 for side in sides)


def is_decoration(attributes: Mapping[str, str]) -> bool:
    """Whether the attributes of an element say that it is decoration."""
    if attributes.get("aria-hidden", "").lower() == "true" or attributes.get("role", "").lower() in (
        "presentation",
        "none",
    ):
        return True
    return _decorates(f"{attributes.get('class', '')} {attributes.get('id', '')}".lower())


def _decorates(name: str) -> bool:
    """Whether `name`, in lower case, contains a word for decoration."""
    words = _LETTERS.findall(name)
    return not _DECORATION.isdisjoint(words) or ("advert" in name and any(word.startswith("advert") for word in words))


def is_token(line: str) -> bool:
    """Whether a line is nothing to read: a token, an image's file name, or characters without a letter or digit."""
    return bool(_TOKEN.fullmatch(line) or _FILE_NAME.fullmatch(line)) or not any(map(str.isalnum, line[:1000]))


def says_something(raw: bytes) -> str:
    """The text of a JSON string, given without its quotes; empty if it is an address, code, a date or one word."""
    try:
        value = json.loads(b'"' + raw + b'"', strict=False)
    except ValueError:
        return ""
    line = collapse(_TAG.sub(" ", value).encode("utf-8", "replace"))
    if _CODE.search(line[:200]) or line.startswith(("/", "#", "www.")):
        return ""
    words = _WORD.findall(line[:200])
    is_unspaced = sum(len(word) for word in words if not word.isascii()) >= _ENOUGH
    return line if is_unspaced or len(words) > 1 else ""
