#!/usr/bin/python3
"""tests/summary.py reads each kind of outcome that ctest writes."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import summary


def case(status, inside, output=""):
    text = f'<testcase name="t" status="{status}">{inside}<system-out>{output}</system-out></testcase>'
    return summary.outcome(ElementTree.fromstring(text))


class Outcome(unittest.TestCase):
    def test_a_test_that_ran_is_passed(self):
        self.assertEqual(case("run", "", "fine\n"), ("passed", ""))

    def test_a_failure_a_crash_and_a_timeout_are_failed(self):
        self.assertEqual(case("fail", '<failure message=""/>')[0], "failed")

    def test_a_missing_executable_is_failed(self):
        self.assertEqual(case("notrun", '<skipped message="Unable to find executable"/>')[0], "failed")

    def test_exit_77_is_skipped_with_its_last_line(self):
        self.assertEqual(case("notrun", '<skipped message="SKIP_RETURN_CODE=77"/>', "a\nno GPU\n"),
                         ("skipped", "no GPU"))

    def test_a_message_of_doctest_is_skipped_with_its_reason(self):
        self.assertEqual(case("run", "", "a_test.cpp:3: MESSAGE: skipped: no file x\n"),
                         ("skipped", "no file x"))

    def test_several_reasons_are_named_once_each_with_their_packages(self):
        output = "a: skipped: zsh is not installed (0.1 s)\nskipped: no strace\nskipped: no strace\n"
        reason = case("run", "", output)[1]
        self.assertEqual(reason, "zsh is not installed; no strace")
        self.assertEqual(summary.packages_for(reason), " (apt-get install zsh strace)")
        self.assertEqual(summary.packages_for("no privilege to mount a file system"), "")

    def test_a_failure_stays_one_even_with_a_skip_line(self):
        self.assertEqual(case("fail", '<failure message=""/>', "skipped: no x\n")[0], "failed")


if __name__ == "__main__":
    unittest.main()
