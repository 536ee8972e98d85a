"""Let a page run its own scripts and nothing else: a content security policy, as a tag in the head of each page.

    policy: what the browser may load for a page, and from where · inline script: one that stands in the page itself

The site is static, so a tag is the one place for it: it holds on a web server, from the file system and out of a zip alike.
Scripts come as files of the site, or stand in the page and are known by their hash: what somebody else manages to put into a
page does not run. Styles may stand in the page, because MathJax writes them while it draws.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

INLINE = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
CHARSET = re.compile(r'<meta charset="[^"]*"\s*/?>')  # has to come first, so the policy follows it
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'none'",
    "form-action": "'self'",
    "base-uri": "'none'",
}
SEARCH = {"connect-src": "'self'"}  # the search page reads the pages it found, to show an excerpt


def hashes(html: str) -> str:
    """The inline scripts of a page, each by its hash.

    >>> hashes("<script>let a = 1</script><script src='b.js'></script>")
    "'sha256-LAfYd7pbFUgwfQu8b4q135PeTG2z+/coPEUYCd74eCQ='"
    """
    found = dict.fromkeys(b64encode(sha256(script.encode()).digest()).decode() for script in INLINE.findall(html))
    return " ".join(f"'sha256-{digest}'" for digest in found)


def with_policy(html: str, search: bool = False) -> str:
    """The page with its policy, before anything that it could load."""
    rules = POLICY | (SEARCH if search else {})
    rules["script-src"] = f"{rules['script-src']} {hashes(html)}".strip()
    content = "; ".join(f"{name} {sources}" for name, sources in rules.items())
    tag = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    charset = CHARSET.search(html)
    place = charset.end() if charset else 0
    return html[:place] + tag + html[place:]


def protect(app, error):
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        page.write_text(with_policy(html, search=page.stem == "search"), encoding="utf-8")


def setup(app):
    app.connect("build-finished", protect, priority=900)  # after all that mends pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
