#!/usr/bin/env python3
"""The what-if page in a browser, from a file: the command's numbers, keys alone, a telephone's width, no request.

    whatif_browser_test.py STEPSIM PAGE [PICTURES]    (exit 77 without the page or chromium)

PICTURES is a folder that gets a picture of the page at each width.
"""
import base64
import itertools
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

import whatif_test
from chromium import CHROMIUM, Chromium

PICTURES = None
TAB, RIGHT, UP, DOWN, ENTER = ("Tab", 9), ("ArrowRight", 39), ("ArrowUp", 38), ("ArrowDown", 40), ("Enter", 13, "\r")
FOCUS = ("document.activeElement === document.body ? '' : document.activeElement.id || document.activeElement.ariaLabel"
         " || document.activeElement.textContent")
CURRENT = "stepsim.results.step"


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Chromium(whatif_test.PAGE.as_uri())
        cls.browser.value("stepsim.ready.then(() => true)")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.browser.size(1280, 900)

    def text(self, name):
        return self.browser.value(f"document.getElementById('{name}').textContent")

    def settle(self):
        """Until a round that no move ended is over."""
        self.browser.value("stepsim.idle().then(() => true)")

    def test_random_settings_give_the_numbers_of_the_command(self):
        asked = whatif_test.in_node("random", whatif_test.SETTINGS, whatif_test.SEED + 1)
        scenarios = [json.dumps(each["scenario"]) for each in asked]
        self.settle()
        times = []
        for begin in range(0, len(scenarios), 100):
            part = json.dumps(scenarios[begin:begin + 100])
            times += self.browser.value(
                f"(async () => {{ const out = []; for (const scenario of {part}) {{"
                " const answer = await stepsim.ask({ask: 'step', scenario});"
                " out.push(answer.summary ? answer.summary.iteration_time_s : answer.error); } return out; })()")
        expected = [each["summary"]["iteration_time_s"] if each["kind"] != "error" else whatif_test.message_of(each)
                    for each in whatif_test.by_command([each["scenario"] for each in asked])]
        for each, ours, theirs in zip(asked, times, expected, strict=True):
            self.assertEqual(whatif_test.unlike(ours, theirs, each["scenario"]), [])

    def by_tab(self):
        """Names of everything that the Tab key reaches from the top of the page, in order, hidden things aside."""
        # From the top, wherever the focus was.
        self.browser.value("document.body.tabIndex = -1; document.body.focus(); document.activeElement.blur();"
                           " document.body.removeAttribute('tabindex'); scrollTo(0, 0); true")
        reached = []
        while True:
            self.browser.key(*TAB)
            name = self.browser.value(FOCUS)
            if name == "" or name in reached:
                return reached
            reached.append(name)

    def focus(self, name):
        for _ in range(60):
            if self.browser.value(FOCUS) == name:
                return
            self.browser.key(*TAB)
        self.fail(f"Tab does not reach {name}")

    def test_tab_reaches_every_control(self):
        self.browser.value("window.before = {...stepsim.settings}; true")
        # Own numbers of the network, own layers or a model, and several GPUs a node show every control.
        for workload in ("table", "model:bert_large"):
            settings = {"network": "own", "gpus": "2", "nodes": "2", "workload": workload}
            self.browser.value(f"Object.assign(stepsim.settings, {json.dumps(settings)}); stepsim.move(); true")
            self.settle()
            here = self.browser.value(
                "[...document.querySelectorAll('select, input, textarea, button, a[href], [tabindex=\"0\"]')]"
                ".filter(e => e.offsetParent !== null).map(e => e.id || e.ariaLabel || e.textContent)")
            self.assertGreater(len(here), 20)
            self.assertEqual(self.by_tab(), here)
        # What has the focus shows it, and every control has a label.
        self.focus("set-nodes")
        self.assertEqual(self.browser.value("getComputedStyle(document.activeElement).outlineStyle"), "solid")
        self.assertEqual(self.browser.value("[...document.querySelectorAll('form label')].filter(l => "
                                            "document.getElementById(l.htmlFor) === null).length"), 0)
        self.restore()

    def restore(self):
        self.browser.value("Object.assign(stepsim.settings, window.before); stepsim.move(); true")
        self.settle()

    def test_keys_alone_set_every_control(self):
        self.settle()
        self.browser.value("window.before = {...stepsim.settings}; document.activeElement.blur(); true")
        for control in self.browser.value("STEPSIM_SETTINGS.CONTROLS.map(c => ({key: c.key, label: c.label,"
                                          " kind: c.lines ? 'text' : c.options ? 'choice' : 'number'}))"):
            key = control["key"]
            now = f"stepsim.settings[{json.dumps(key)}]"
            settings = {"network": "own", "node": "own", "gpus": "2", "nodes": "2", "collective": "ring", "compression": "none", "conditions": "typical",
                        "workload": "table" if key == "table" else "model:bert_large"}
            self.browser.value(f"Object.assign(stepsim.settings, {json.dumps(settings)}); stepsim.move(); true")
            before = self.browser.value(now)
            self.focus(control["label"] + ", slider" if control["kind"] == "number" else "set-" + key)
            if control["kind"] == "text":
                self.browser.type("more, 1, 2, 4000\n")
            else:
                self.browser.key(*(DOWN if control["kind"] == "choice" else RIGHT))
            if control["kind"] == "choice" and self.browser.value(now) == before:
                self.browser.key(*UP)  # it was the last choice
            self.assertNotEqual(self.browser.value(now), before, control)
            if control["kind"] == "number":
                self.browser.key(*TAB)
                self.assertEqual(self.browser.value(FOCUS), "set-" + key)
                self.browser.value("document.activeElement.select()")
                self.browser.type("3")
                self.assertEqual(self.browser.value(now), "3")
        self.browser.value("document.getElementById('copied').textContent = ''; true")
        self.focus("copy-command")
        self.browser.key(*ENTER)
        self.browser.until("document.getElementById('copied').textContent !== ''")
        self.assertIn("| stepsim run -", self.text("command"))
        self.restore()

    def test_a_key_moves_a_whole_number_by_one(self):
        self.settle()
        before = self.browser.value("Number(stepsim.settings.nodes)")
        self.browser.value("document.activeElement.blur(); true")
        self.focus("Nodes, slider")
        for _ in range(3):
            self.browser.key(*RIGHT)
        self.settle()
        self.assertEqual(self.browser.value("Number(stepsim.settings.nodes)"), before + 3)
        self.assertIn(f"on {before + 3} workers", self.text("answer"))

    def test_a_wrong_value_shows_the_message_and_keeps_the_last_answer(self):
        self.settle()
        answer = self.text("answer")
        self.browser.value("(() => { const f = document.getElementById('set-nodes'); f.focus(); f.select(); })()")
        self.browser.type("0")
        self.settle()
        message = self.text("error")
        self.assertTrue(message.startswith("Nodes: must be"), message)
        self.assertEqual(message.count("\n"), 0)
        self.assertEqual(self.text("answer"), answer)
        self.browser.value("document.getElementById('set-nodes').select()")
        self.browser.type("16")
        self.settle()
        self.assertEqual(self.text("error"), "")
        self.assertIn("on 16 workers", self.text("answer"))

    def test_the_scenario_shown_runs_to_the_same_digits(self):
        self.settle()
        step = self.browser.value(f"{CURRENT}.summary.iteration_time_s")
        scenario = json.loads(self.text("scenario"))
        record, = whatif_test.by_command([scenario])
        self.assertEqual(whatif_test.unlike(step, record["summary"]["iteration_time_s"], scenario), [])
        shown = self.browser.value("[...document.querySelectorAll('#defaults tr')].map(r => r.cells[0].textContent)")
        self.assertEqual(shown, [each["pointer"] for each in record["defaults"]])
        self.browser.value("document.getElementById('copy-command').click()")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "stepsim").symlink_to(whatif_test.STEPSIM)
            trace = whatif_test.ROOT / "traces/resnet50.1gpu.json"
            (pathlib.Path(folder) / trace.name).symlink_to(trace)
            done = subprocess.run(["sh", "-c", self.text("command") + " --json"], cwd=folder, check=True,
                                  capture_output=True, text=True, env={"PATH": f"{folder}:/usr/bin:/bin"})
        self.assertEqual(whatif_test.unlike(step, json.loads(done.stdout)["summary"]["iteration_time_s"], scenario), [])
        # The next move takes the command of these settings away.
        self.browser.value("stepsim.move(); true")
        self.assertEqual(self.text("command"), "stepsim run scenario.json")
        self.settle()

    def test_later_work_is_dropped_by_the_next_move(self):
        self.settle()
        # A step of seconds, then at once one of milliseconds: the second does not wait for the first.
        waited = self.browser.value(
            "(async () => { const s = stepsim.settings, before = {...s};"
            " Object.assign(s, {workload: 'table', nodes: '64', collective: 'auto', network: 'own', table: "
            " Array.from({length: 4000}, (_, l) => `l${l}, 1, 1, ${4 * (l + 1)}`).join('\\n'), schedule: 'optimal'});"
            " stepsim.move(); await new Promise(done => setTimeout(done, 300));"
            " const start = performance.now(); Object.assign(s, before, {nodes: '12'}); const round = stepsim.move();"
            " while (!document.getElementById('answer').textContent.includes('on 12 workers')) "
            "   await new Promise(done => setTimeout(done, 2));"
            " return performance.now() - start; })()")
        print(f"the answer to a move during long work came after {waited:.0f} ms")
        self.assertLess(waited, 1000)
        self.settle()

    def test_a_telephone_shows_it_without_scrolling_sideways(self):
        self.browser.value("window.before = {...stepsim.settings}; true")
        shown = {"default": "{}", "own": "{workload: 'table', network: 'own', gpus: '4', nodes: '2', compression: 'topk'}",
                 "type": "{workload: 'model:llama3_8b', gpu: 'h100', node: 'dgx_h100', nodes: '16', batch: '1'}",
                 "wrong": "{nodes: 'a' + '0123456789'.repeat(9)}"}
        for (name, settings), (width, height) in itertools.product(shown.items(), ((360, 740), (400, 800), (1280, 900))):
            self.browser.size(width, height)
            self.browser.value(f"Object.assign(stepsim.settings, window.before, {settings}); stepsim.move(); true")
            self.settle()
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width, name)
            # Charts, and all that is written in them, have room without scrolling, in letters of 12 pixels.
            outside = self.browser.value(
                "[...document.querySelectorAll('svg')].flatMap(svg => { const room = svg.parentElement.getBoundingClientRect();"
                " return [svg, ...svg.querySelectorAll('text')].filter(each => { const at = each.getBoundingClientRect();"
                " return at.left < room.left - 1 || at.right > room.right + 1; }).map(each => each.textContent); })")
            self.assertEqual(outside, [], (name, width))
            scales = self.browser.value("[...document.querySelectorAll('.columns svg')].map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width)")
            if name != "wrong":  # its figures are those of the last answer
                self.assertGreater(min(scales), 0.95, (name, width))
            for scheme in ("light", "dark") if PICTURES else ():
                self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                self.browser.size(width, self.browser.value("document.documentElement.scrollHeight"))
                shot = self.browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
                (PICTURES / f"whatif-{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(shot["data"]))
        self.restore()

    def test_a_colour_means_one_thing(self):
        self.settle()
        legends = self.browser.value(
            "['bar', 'timeline'].map(id => Object.fromEntries([...document.querySelectorAll(`#${id} rect[width=\"48\"]`)]"
            ".map(r => [r.nextElementSibling.textContent, r.getAttribute('fill')])))")
        named = [{label.split()[0]: fill for label, fill in legend.items()} for legend in legends]
        both = set(named[0]) & set(named[1])
        self.assertGreaterEqual(both, {"forward", "backward", "communication"})
        self.assertEqual([named[0][word] for word in both], [named[1][word] for word in both])
        curve = self.browser.value("[...document.querySelectorAll('#curve path[stroke-width=\"3\"]')].map(p => p.getAttribute('stroke'))")
        self.assertEqual(set(curve) & {fill for legend in named for fill in legend.values()}, set())
        self.assertEqual(len(set(curve)), 1)

    def test_figures_and_lists_are_filled(self):
        self.settle()
        for name in ("bar", "curve", "timeline"):
            self.assertEqual(self.browser.value(f"document.querySelectorAll('#{name} svg').length"), 1, name)
        self.assertGreater(self.browser.value("document.querySelectorAll('#changes li').length"), 0)
        self.assertNotRegex(self.text("changes"), "without [a-z]+_")  # which is in nobody's hand

    def test_the_answer_has_its_interval_and_says_which_conditions_hold(self):
        self.settle()
        self.assertRegex(self.text("answer"), r"^A step takes \S+ ms \(\S+ to \S+, 80 %\) on \d+ workers")
        self.assertRegex(self.text("conditions"), r"^Conditions typical: a message costs .*\.$")
        self.assertRegex(self.text("interval"), r"^80 % of real runs lie in the interval; most of it: ")
        self.assertRegex(self.browser.value("location.hash"), "transport=&.*conditions=typical$")
        typical = self.browser.value(f"{CURRENT}.summary.iteration_time_s")
        self.browser.value("window.before = {...stepsim.settings}; Object.assign(stepsim.settings, {conditions: 'ideal'}); stepsim.move(); true")
        self.settle()
        self.assertEqual(self.text("conditions"), "Conditions ideal: nothing is lost; real steps are longer (docs/accuracy.md).")
        self.assertEqual(self.text("interval"), "")
        self.assertNotIn(", 80 %)", self.text("answer"))
        self.assertIn("conditions=ideal", self.browser.value("location.hash"))
        self.assertLess(self.browser.value(f"{CURRENT}.summary.iteration_time_s"), typical)
        self.assertTrue(self.browser.value("document.getElementById('set-transport').closest('#controls > div').hidden"))
        self.restore()

    def test_nothing_is_asked_for(self):
        self.settle()
        own = [url for url in self.browser.urls if not url.startswith(("blob:", "data:"))]
        self.assertEqual(set(own), {whatif_test.PAGE.as_uri()})
        self.assertTrue(whatif_test.PAGE.as_uri().startswith("file:///"))

    def test_the_policy_of_the_page_forbids_a_request(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            host = f"http://127.0.0.1:{server.getsockname()[1]}"
            browser = Chromium(whatif_test.PAGE.as_uri())
            try:
                forbidden = browser.value(
                    "(async () => { const found = []; document.addEventListener('securitypolicyviolation',"
                    " event => found.push(event.violatedDirective));"
                    f" await fetch('{host}/a').catch(() => null);"
                    f" const picture = new Image(); picture.src = '{host}/b.png';"
                    f" const script = document.createElement('script'); script.src = '{host}/c.js'; document.head.append(script);"
                    " while (found.length < 3) await new Promise(done => setTimeout(done, 10));"
                    " return found; })()")
            finally:
                browser.close()
            self.assertEqual(sorted(forbidden), ["connect-src", "img-src", "script-src-elem"])
            server.settimeout(0.1)
            with self.assertRaises(TimeoutError):
                server.accept()


if __name__ == "__main__":
    whatif_test.STEPSIM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    whatif_test.PAGE = pathlib.Path(sys.argv.pop(1)).resolve()
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_dir():
        PICTURES = pathlib.Path(sys.argv.pop(1))
    if CHROMIUM is None or whatif_test.NODE is None or not whatif_test.PAGE.exists():
        print("skipped: no /usr/bin/chromium, no node, or no whatif.html")
        sys.exit(77)
    unittest.main()
