#!/usr/bin/env python3
"""`cmake --install` into a folder: the tree works where it is moved to, its documents are whole, and
`uninstall` leaves nothing.

usage: install_test.py BUILD
"""
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import page_blocks  # noqa: E402

BUILD = None
PLAIN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        first = folder / "first"
        run("cmake", "--install", BUILD, "--prefix", first)
        cls.manifest = (BUILD / "install_manifest.txt").read_text()
        cls.root = folder / "moved to another place"
        first.rename(cls.root)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def stepsim(self, *words):
        with tempfile.TemporaryDirectory() as empty:
            return run(self.root / "bin/stepsim", *words, cwd=empty, env=PLAIN)

    def test_data_is_found(self):
        self.assertIn("resnet50", self.stepsim("models"))
        share = self.root / "share/stepsim"
        self.assertIn("iteration time", self.stepsim("run", share / "examples/quickstart.scenario.json"))
        strace = self.stepsim("init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100")
        self.assertIn('"workload"', strace)
        for folder in ("models", "topologies", "traces", "examples", "schemas", "reproduce"):
            self.assertTrue(any((share / folder).iterdir()), folder)

    def test_commands_of_the_readme_run_in_an_empty_folder(self):
        readme = (self.root / "share/doc/stepsim/README.md").read_text()
        with tempfile.TemporaryDirectory() as empty:
            runner = page_blocks.Runner(pathlib.Path(empty), self.root / "bin")
            self.assertEqual(list(runner.problems("README.md", readme)), [])

    def test_help_names_the_installed_documents(self):
        text = self.stepsim("run", "--help")
        place = re.search(r"\S.*docs/file-formats.md", " ".join(text.split())).group(0)
        named = str(self.root / "share/doc/stepsim/docs/file-formats.md")
        self.assertIn(named, " ".join(text.split()), place)
        self.assertTrue(pathlib.Path(named).is_file())

    def test_links_of_the_documents_lead_to_files(self):
        pages = self.root / "share/doc/stepsim"
        broken = []
        for page in [pages / "README.md", *(pages / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
                if "://" in target or (page.parent / target).exists():
                    continue
                # Sources and tests are not installed.
                if re.match(r"(\.\./)?(sim|tests|notebooks|calibrate|docs/\w+\.(py|csv|sh))\b|\w+\.(py|csv|sh)$|testbed", target):
                    continue
                broken.append(f"{page.name}: {target}")
        self.assertEqual(broken, [])

    def test_pages_and_completion_are_there(self):
        man = self.root / "share/man/man1"
        for command in re.findall(r"(?m)^  ([a-z][a-z-]*)  ", self.stepsim("--help")):
            self.assertIn(f"STEPSIM", gzip.decompress((man / f"stepsim-{command}.1.gz").read_bytes()).decode())
        for file in ("bash-completion/completions/stepsim", "zsh/vendor-completions/_stepsim",
                     "fish/vendor_completions.d/stepsim.fish", "doc/stepsim/copyright"):
            self.assertTrue((self.root / "share" / file).stat().st_size > 0, file)


class Uninstall(unittest.TestCase):
    def test_it_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name) / "prefix"
            place.mkdir()
            (place / "other").write_text("stays")
            run("cmake", "--install", BUILD, "--prefix", place)
            self.assertTrue((place / "bin/stepsim").exists())
            run("cmake", f"-DBUILD={BUILD}", "-P", pathlib.Path(__file__).parents[2] / "cmake/uninstall.cmake")
            self.assertEqual([path.name for path in place.rglob("*")], ["other"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
