#!/usr/bin/env python3
"""Pages and figures in a browser: every label inside its picture, no two on each other, nothing wider
than a telephone, the text of the file without the work of scripts, no request.

    browser_test.py STEPSIM          (exit 77 without chromium)
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from folder import ROOT, STEPSIM
from report_test import Page, luminance

CHROMIUM = shutil.which("chromium", path="/usr/bin")
MEASURE = """
// The corners of a text, shrunk by e at each side: a turned text is a turned box.
function corners(text, e) {
  const box = text.getBBox(), matrix = text.getScreenCTM(), scale = Math.hypot(matrix.a, matrix.b) || 1, d = e / scale / 2;
  return [[box.x + d, box.y + d], [box.x + box.width - d, box.y + d], [box.x + box.width - d, box.y + box.height - d],
          [box.x + d, box.y + box.height - d]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
}
// Whether a side of the first box has all of the second on its other side.
function parted(a, b) {
  return [0, 1].some(i => {
    const [x, y] = [a[i + 1].x - a[i].x, a[i + 1].y - a[i].y], along = p => p.x * x + p.y * y;
    const [own, other] = [a.map(along), b.map(along)];
    return Math.max(...own) <= Math.min(...other) || Math.max(...other) <= Math.min(...own);
  });
}
function boxes(picture) {
  const wrong = [], frame = picture.getBoundingClientRect(), e = Math.max(2, frame.width / 640 * 2.5);
  const texts = [...picture.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect(), corners(t, e)]);
  for (const [words, box] of texts)
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      wrong.push('outside: ' + words);
  for (let i = 0; i < texts.length; ++i)
    for (let j = 0; j < i; ++j)
      if (!parted(texts[i][2], texts[j][2]) && !parted(texts[j][2], texts[i][2]))
        wrong.push('overlap: ' + texts[i][0] + ' | ' + texts[j][0]);
  return wrong;
}
function measure() {
  const out = {};
  for (const place of document.querySelectorAll('div[data-name]'))
    out[place.dataset.name] = {wrong: boxes(place.querySelector('svg'))};
  for (const frame of document.querySelectorAll('iframe')) {
    const inside = frame.contentDocument;
    out[frame.title] = {wrong: [...inside.querySelectorAll('svg')].flatMap(boxes),
                        wide: inside.documentElement.scrollWidth - frame.clientWidth,
                        html: inside.documentElement.outerHTML};
  }
  const place = document.createElement('pre');
  place.id = 'measured';
  place.textContent = JSON.stringify(out);
  document.body.append(place);
}
window.onload = measure;
"""


def browser(path, *flags):
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                           "--disable-component-update", "--disable-default-apps", "--no-first-run",
                           "--dump-dom", *flags, path.as_uri()], capture_output=True, text=True, timeout=600)
    return done.stdout


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.pages = {}
        for name, words in (("run", ["examples/quickstart.scenario.json", "--set", "/workload/batch_size=32"]),
                            ("pipe", ["examples/two-layers.scenario.json", "--set", "/training/algorithm=pipe_sgd"]),
                            ("sweep", [str(cls.folder / "s.jsonl")])):
            if name == "sweep":
                subprocess.run([STEPSIM, "sweep", "examples/quickstart.sweep.json", "-o", words[0], "--quiet"],
                               cwd=ROOT, check=True, capture_output=True)
            cls.pages[name] = cls.folder / f"{name}.html"
            subprocess.run([STEPSIM, "report", *words, "-o", str(cls.pages[name])], cwd=ROOT, check=True,
                           capture_output=True)

    def measured(self, body):
        """One start of the browser for everything in the body: a start takes more than the work."""
        path = self.folder / "measure.html"
        path.write_text(f"<!doctype html><body style='margin:0'><script>{MEASURE}</script>{body}")
        found = re.search(r'<pre id="measured">(.*?)</pre>', browser(path), re.S)
        self.assertTrue(found, "the browser measured nothing")
        return json.loads(html.unescape(found.group(1)))

    def test_labels_of_figures_stay_inside_and_apart(self):
        pictures = sorted((ROOT / "tests/plot/figures").glob("*.svg")) + sorted((ROOT / "docs/images").rglob("*.svg"))
        self.assertTrue(pictures)
        body, names = [], set()
        for picture in pictures:
            for width in (640, 320):
                for look in ("colour", "grey"):
                    name = f"{picture.relative_to(ROOT)} at {width} px in {look}"
                    names.add(name)
                    text = picture.read_text().replace('width="640"', f'width="{width}"', 1)
                    style = " style='filter: grayscale(1)'" if look == "grey" else ""
                    body.append(f'<div data-name="{html.escape(name)}"{style}>{text}</div>')
        touching = ('<svg width="640" height="400" viewBox="0 0 640 400"><text x="9" y="90">one</text><text x="20" y="95">two'
                    '</text><text x="9" y="200">turned</text><text x="9" y="200" transform="rotate(-35 9 200)">over</text></svg>')
        body.append(f'<div data-name="control">{touching}</div>')
        found = self.measured("".join(body))
        self.assertEqual(found.pop("control")["wrong"], ["overlap: two | one", "overlap: over | turned"])
        self.assertEqual(set(found), names)
        for name, each in found.items():
            self.assertEqual(each["wrong"], [], name)

    def test_texts_and_curves_are_told_apart_in_grey(self):
        for picture in (ROOT / "docs/images").rglob("*.svg"):
            text = picture.read_text()
            for attributes in re.findall(r"<text([^>]*)>", text):
                color = re.search(r'fill="(#[0-9a-f]+)"', attributes)
                if color and "#fff" not in color.group(1):
                    self.assertGreaterEqual(1.05 / (luminance(color.group(1)) + 0.05), 4.5, picture.name)
            looks = {}
            for attributes in re.findall(r'<path([^>]*marker-start[^>]*)>', text):
                color = re.search(r'stroke="(#[0-9a-f]+)"', attributes)
                marker = re.search(r'marker-start="url\(#(\w+)\)"', attributes)
                if color and marker:
                    looks.setdefault(marker.group(1), set()).add(round(luminance(color.group(1)), 3))
            greys = [grey for found in looks.values() for grey in found]
            self.assertEqual(len(greys), len(set(greys)), f"{picture.name}: {looks}")

    def test_pages_fit_a_telephone(self):
        frames = "".join(f'<iframe title="{name} at {width} px" width="{width}" height="800" '
                         f'srcdoc="{html.escape(path.read_text(), quote=True)}"></iframe>'
                         for name, path in self.pages.items() for width in (360, 700))
        found = self.measured(frames)
        self.assertEqual(len(found), 2 * len(self.pages))
        for name, each in found.items():
            self.assertLessEqual(each["wide"], 0, name)
            self.assertEqual(each["wrong"], [], name)

    def test_text_is_the_same_without_scripts(self):
        """In frames that may not run scripts: --dump-dom itself needs them, so that
        --blink-settings=scriptEnabled=false prints nothing."""
        control = "<p>file</p><script>document.body.append('from a script')</script><noscript><p>without</p></noscript>"
        frames = "".join(f'<iframe title="{name}" sandbox="allow-same-origin" srcdoc="{html.escape(text, quote=True)}">'
                         "</iframe>" for name, text in [("control", "<!doctype html><body>" + control)]
                         + [(name, path.read_text()) for name, path in self.pages.items()])
        found = self.measured(frames)
        self.assertNotIn("from a script</", found["control"]["html"].replace("'from a script')</script>", ""))
        self.assertIn("<p>without</p>", found["control"]["html"])
        for name, path in self.pages.items():
            self.assertEqual(Page(found[name]["html"]).text(), Page(path.read_text()).text(), name)

    def test_text_is_the_same_with_scripts_and_nothing_is_asked_for(self):
        for name, path in self.pages.items():
            log = self.folder / "net.json"
            shown = browser(path, f"--log-net-log={log}")
            self.assertEqual(Page(shown).text(), Page(path.read_text()).text(), name)
            asked = set(re.findall(r'"url":"((?:https?|wss?|ftp)://[^"]*)"', log.read_text()))
            own = {url for url in asked if not re.match(r"https?://[\w.-]*(google|gvt1)[\w.-]*/", url)}
            self.assertEqual(own, set(), name)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: no /usr/bin/chromium")
        sys.exit(77)
    unittest.main()
