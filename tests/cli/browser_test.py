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

from report_test import Page

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium", path="/usr/bin")
STEPSIM = None
MEASURE = """
function boxes(root) {
  const wrong = [];
  for (const picture of root.querySelectorAll('svg')) {
    const frame = picture.getBoundingClientRect();
    const texts = [...picture.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    for (const [words, box] of texts)
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        wrong.push('outside: ' + words);
    for (let i = 0; i < texts.length; ++i)
      for (let j = 0; j < i; ++j) {
        const [a, b] = [texts[i][1], texts[j][1]], e = Math.max(2, frame.width / 640 * 2.5);
        if (a.left < b.right - e && b.left < a.right - e && a.top < b.bottom - e && b.top < a.bottom - e)
          wrong.push('overlap: ' + texts[i][0] + ' | ' + texts[j][0]);
      }
  }
  return wrong;
}
function measure() {
  const out = {};
  for (const frame of document.querySelectorAll('iframe')) {
    const inside = frame.contentDocument;
    out[frame.width] = {wrong: boxes(inside), wide: inside.documentElement.scrollWidth - frame.clientWidth};
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
                           "--dump-dom", *flags, path.as_uri()], capture_output=True, text=True, timeout=120)
    return done.stdout


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
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

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def measured(self, content, widths):
        frames = "".join(f'<iframe width="{width}" height="800" srcdoc="{html.escape(content, quote=True)}"></iframe>'
                         for width in widths)
        path = self.folder / "measure.html"
        path.write_text(f"<!doctype html><body><script>{MEASURE}</script>{frames}</body>")
        found = re.search(r'<pre id="measured">(.*?)</pre>', browser(path), re.S)
        self.assertTrue(found, "the browser measured nothing")
        return json.loads(html.unescape(found.group(1)))

    def test_labels_of_figures_stay_inside_and_apart(self):
        pictures = sorted((ROOT / "tests/plot/figures").glob("*.svg")) + sorted((ROOT / "docs/images").rglob("*.svg"))
        self.assertTrue(pictures)
        for picture in pictures:
            for width in (640, 320):
                text = picture.read_text().replace('width="640"', f'width="{width}"', 1)
                content = f"<!doctype html><body style='margin:0'>{text}"
                for found in self.measured(content, [width + 40]).values():
                    self.assertEqual(found["wrong"], [], f"{picture.name} at {width} px")

    def test_pages_fit_a_telephone(self):
        for name, path in self.pages.items():
            for width, found in self.measured(path.read_text(), [360, 700]).items():
                self.assertLessEqual(found["wide"], 0, f"{name} at {width} px")
                self.assertEqual(found["wrong"], [], f"{name} at {width} px")

    def test_text_is_that_of_the_file_and_nothing_is_asked_for(self):
        for name, path in self.pages.items():
            log = self.folder / "net.json"
            # No script can change what the file says: the browser shows the text of the file.
            shown = browser(path, f"--log-net-log={log}")
            self.assertEqual(Page(shown).text(), Page(path.read_text()).text(), name)
            asked = set(re.findall(r'"url":"((?:https?|wss?|ftp)://[^"]*)"', log.read_text()))
            own = {url for url in asked if not re.match(r"https?://[\w.-]*(google|gvt1)[\w.-]*/", url)}
            self.assertEqual(own, set(), name)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: no /usr/bin/chromium")
        sys.exit(77)
    STEPSIM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
