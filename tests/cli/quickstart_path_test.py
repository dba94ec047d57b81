#!/usr/bin/env python3
"""The last words of ./quickstart are a line that puts build/ on PATH."""
import pathlib
import re
import subprocess
import tempfile
import unittest

QUICKSTART = (pathlib.Path(__file__).resolve().parents[2] / "quickstart").read_text()


class Path(unittest.TestCase):
    def say(self, folder, path="/usr/bin:/bin"):
        function = re.search(r"(?ms)^say_path\(\) \{.*?^\}", QUICKSTART).group(0)
        return subprocess.run(["bash", "-euc", f"{function}\nsay_path"], cwd=folder, text=True,
                              capture_output=True, check=True, env={"PATH": path}).stdout

    def test_the_line_works_when_it_is_pasted(self):
        for name in ("plain", "with blank", "with'quote$"):
            with tempfile.TemporaryDirectory() as parent:
                build = pathlib.Path(parent) / name / "build"
                build.mkdir(parents=True)
                tool = build / "stepsim"
                tool.write_text("#!/bin/sh\necho found\n")
                tool.chmod(0o755)
                line = self.say(build.parent).strip().splitlines()[-1]
                done = subprocess.run(["bash", "-euc", f"{line}\nstepsim"], text=True,
                                      capture_output=True, env={"PATH": "/usr/bin:/bin"})
                self.assertEqual(done.stdout, "found\n", line + done.stderr)

    def test_nothing_is_said_where_it_is_a_command_already(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.say(folder, f"{folder}/build:/usr/bin:/bin"), "")

    def test_it_is_the_last_thing_that_the_main_job_says(self):
        self.assertTrue(QUICKSTART.rstrip().endswith("main_job\n  say_path\nfi"))


if __name__ == "__main__":
    unittest.main()
