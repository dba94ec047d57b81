"""What tests of commands share: the program, which is the first argument of the test, and a folder of its own for
each test."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPSIM = str(pathlib.Path(sys.argv.pop(1)).resolve())


def stepsim(*words, code=0):
    """What a command says in the folder of the repository: its answer, or its errors where it has to fail."""
    done = subprocess.run([STEPSIM, *words], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, f"{words}: {done.returncode}, {done.stderr}"
    return done.stdout if code == 0 else done.stderr


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def stepsim(self, *words, code=0, cwd=None, **options):
        """A command that ends with this code, or with one of these."""
        done = subprocess.run([STEPSIM, *map(str, words)], cwd=cwd or self.folder, text=True, capture_output=True,
                              timeout=600, **options)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), (words, done.stdout, done.stderr))
        return done

    def write(self, tree, name="s.json"):
        (self.folder / name).write_text(json.dumps(tree))
        return name

    def tree(self, name="s.json"):
        return json.loads((self.folder / name).read_text())
