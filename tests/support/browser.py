"""Pages in a real browser: what tests share to look at them."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from chromium import CHROMIUM

WIDTHS = {"desktop": 1280, "phone": 390}
NO_BROWSER = "no Chromium on this machine"  # tests/conftest.py counts these
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@functools.cache
def axe_core() -> str:
    """The script that AXE runs."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


# Sizes come from the browser's own record: it counts what a cache gave, and the size before any compression.
LOOK = """async () => {
  if (window.MathJax?.startup?.promise) await MathJax.startup.promise;
  const drawn = m => m.querySelector('mjx-container') && !m.querySelector('mjx-merror, [data-mjx-error]');
  const shown = i => i.complete && i.naturalWidth > 0;
  const told = i => i.alt.trim().length >= 15 && !/\\.(png|svg|jpe?g)$/i.test(i.alt.trim());
  const figures = '.bd-article :is(figure, .cell_output) img';
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return {
    theme: document.documentElement.dataset.theme,
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    raw_math: [...document.querySelectorAll('.math')].filter(m => !drawn(m)).map(m => m.textContent),
    bad_images: [...document.images].filter(i => !shown(i) || !told(i)).map(i => `${i.src}: ${i.alt}`),
    grounds: [...document.querySelectorAll(figures)].map(getComputedStyle).map(s => [s.backgroundColor, s.filter]),
    weight: loaded.filter(e => !e.name.includes('/mathjax/')).reduce((sum, e) => sum + e.decodedBodySize, 0),
  };
}"""

# axe-core checks each element, and the contrast of each takes milliseconds: a minute for a chapter full of code. Elements of
# the same ink, size and grounds have the same contrast, so one of each look stands for all; the other words of the code,
# and in the dark the formulas, need not be elements any more.
AXE = """async () => {
  const nextFrame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  document.querySelectorAll('details').forEach(d => d.open = true);
  document.querySelectorAll('button.toggle-button-hidden').forEach(b => b.click());
  await nextFrame();  // the page's own script has seen what opened
  const grounds = new Map(), seen = new Set();
  for (const e of document.body.querySelectorAll('*')) {
    const s = getComputedStyle(e);
    const own = [s.backgroundColor, s.backgroundImage, s.opacity].join(' ');
    const ground = (grounds.get(e.parentElement) ?? '') + (own == 'rgba(0, 0, 0, 0) none 1' ? '' : own);
    grounds.set(e, ground);
    const words = [...e.childNodes].some(n => n.nodeType == Node.TEXT_NODE && n.data.trim());
    const look = [s.color, s.fontSize, s.fontWeight, ground].join(' ');
    if (words && e.checkVisibility({visibilityProperty: true}) && !seen.has(look)) {
      seen.add(look);
      e.dataset.look = '';
    }
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
  const light = document.documentElement.dataset.theme == 'light';
  const spare = 'pre span:not([data-look], :has([data-look]))' + (light ? '' : ', mjx-container:not(:has([data-look]))');
  document.querySelectorAll(spare).forEach(e => e.replaceWith(e.textContent));
  const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
  const colours = ['color-contrast', 'link-in-text-block'];
  const runOnly = light ? all : colours;  // the modes differ in nothing else
  const {violations} = await axe.run({runOnly, resultTypes: ['violations'], preload: false});
  return violations.flatMap(v => v.nodes.map(n => `${v.impact} ${v.id}: ${n.html.slice(0, 150)} ${n.failureSummary}`));
}"""
