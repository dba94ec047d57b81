#!/usr/bin/env python3
"""Man pages, completion and the JSON of `stepsim help` are made from the tables of --help.

usage: help_test.py STEPSIM [STEPSIM_CALIBRATE]
Checks that need groff, zsh or fish are skipped where these are not installed.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = []


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, cwd=ROOT, **options)
    assert done.returncode == 0, f"{words}: {done.returncode} {done.stderr}"
    return done.stdout


def words(*typed):
    """What completes the last of these words: {word: sentence}."""
    lines = run(PROGRAMS[0], "help", "--format", "words", "--", *typed).splitlines()
    return dict((line.split("\t") + [""])[:2] for line in lines)


def commands(program):
    return json.loads(run(program, "help", "--json"))["commands"]


class Help(unittest.TestCase):
    def test_help_of_a_command_is_its_help(self):
        for command in commands(PROGRAMS[0]):
            name = command["name"]
            self.assertEqual(run(PROGRAMS[0], "help", name), run(PROGRAMS[0], name, "--help"))

    def test_unknown_commands_name_the_nearest(self):
        done = subprocess.run([PROGRAMS[0], "help", "comprae"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean compare?", done.stderr)

    def test_json_has_every_option_of_the_help(self):
        for program in PROGRAMS:
            for command in commands(program):
                text = run(program, command["name"], "--help")
                listed = set(re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text))
                names = {name for option in command["options"] for name in option["names"]}
                self.assertLessEqual(listed, names, command["name"])


class Words(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(list(words("comp")), ["compare"])
        self.assertIn("sweep", words(""))

    def test_options_of_the_command(self):
        self.assertEqual(list(words("run", "x.json", "--timeline-n")), ["--timeline-nodes"])
        self.assertEqual(words("run", "--over"), {})

    def test_words_of_options(self):
        for typed, expected in ((["collective", "--algorithm", "gt"],
                                 ["gtopk_tree", "gtopk_butterfly", "gtopk_exact"]),
                                (["collective", "--op", "allr"], ["allreduce"]),
                                (["run", "x", "--method", "max"], ["max_plus"]),
                                (["run", "x", "--method=max"], ["--method=max_plus"]),
                                (["tune", "x", "--knob", "buck"], ["bucket_bytes"]),
                                (["plan", "x", "--planners", "wfbp,sing"], ["wfbp,single"]),
                                (["compare", "x", "--algorithms", "ddp,top"],
                                 ["ddp,topk", "ddp,topk_layerwise", "ddp,topk_omgs"]),
                                (["solve", "x", "--target", "scaling"], ["scaling_efficiency="]),
                                (["init", "--model", "resnet5"], ["resnet50"]),
                                (["init", "--network", "25g-t"], ["25g-tcp"]),
                                (["init", "--cluster", "dgx_h1"], ["dgx_h100"]),
                                (["schema", "sce"], ["scenario"]),
                                (["run", "x", "--color", "al"], ["always"])):
            self.assertEqual([word for word in words(*typed) if word != ":files"], expected, typed)

    def test_keys_after_set_level_by_level(self):
        found = words("run", "x.json", "--set", "/cluster/n")
        for key in ("/cluster/nodes=", "/cluster/network/", "/cluster/nics_per_node="):
            self.assertIn(key, found)
        self.assertTrue(all(word.startswith("/cluster/n") for word in found))
        self.assertEqual(found["/cluster/nodes="], "Number of machines.")
        self.assertIn("/cluster/", words("compare", "x.json", "--over", "/"))
        self.assertEqual(list(words("solve", "x", "--for", "/cluster/nod")), ["/cluster/nodes"])

    def test_values_of_keys(self):
        self.assertEqual(list(words("run", "x", "--set", "/communication/schedule=mg_wfbp_")),
                         ["/communication/schedule=mg_wfbp_small_tensors"])
        self.assertEqual(list(words("compare", "x", "--over", "/communication/schedule=wfbp,opt")),
                         ["/communication/schedule=wfbp,optimal"])
        self.assertIn("/workload/model=resnet50", words("run", "x", "--set", "/workload/model=res"))

    def test_files_where_a_file_is_expected(self):
        self.assertEqual(words("run", ""), {":files": ""})
        self.assertEqual(words("run", "x", "-o", ""), {":files": ""})
        self.assertNotIn(":files", words("run", "x", "--seed", ""))

    def test_every_option_with_words_in_its_sentence_completes_them(self):
        missing = []
        for command in commands(PROGRAMS[0]):
            for option in command["options"]:
                if option["value"] in ("WORD", "KIND", "OP", "A") and not option["words"]:
                    missing.append(f"{command['name']} {option['names'][-1]}: {option['sentence']}")
        # Words that stand inside a sentence, which explains each.
        self.assertLessEqual({row.split(":")[0] for row in missing},
                             {"tune --baseline", "tune --emit", "import --time",
                              "import --sizes-order"}, missing)


class ManPages(unittest.TestCase):
    def pages(self):
        for program in PROGRAMS:
            name = pathlib.Path(program).name
            yield name, run(program, "help", "--format", "man")
            if name == "stepsim":
                for command in commands(program):
                    yield f"{name}-{command['name']}", run(program, "help", command["name"], "--format", "man")

    def test_they_are_plain_and_have_their_sections(self):
        for name, text in self.pages():
            self.assertTrue(text.isascii(), name)
            for section in (".TH", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"):
                self.assertIn(section, text, name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_no_warning(self):
        for name, text in self.pages():
            done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z"], input=text, text=True, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_a_page_shows_each_option_with_its_sentence(self):
        page = run(PROGRAMS[0], "help", "run", "--format", "man")
        shown = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou"], input=page, text=True,
                               capture_output=True, check=True).stdout
        self.assertIn("--timeline-nodes LIST", shown)
        self.assertIn("only these, as 0,1 or 0:8:+2; default the first 8", " ".join(shown.split()))


class Shells(unittest.TestCase):
    """The lines that a user types, in the shells themselves."""

    LINES = (("stepsim comp", "compare"), ("stepsim collective --algorithm gt", "gtopk_tree"),
             ("stepsim run x.json --set /cluster/n", "/cluster/nodes="),
             ("stepsim run x.json --set /communication/schedule=mg_wfbp_", "mg_wfbp_small_tensors"),
             ("stepsim run exam", "examples"))

    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.home / "bin").mkdir()
        (self.home / "examples").mkdir()
        (self.home / "bin/stepsim").symlink_to(PROGRAMS[0])
        for shell in ("bash", "zsh", "fish"):
            name = {"bash": "stepsim", "zsh": "_stepsim", "fish": "stepsim.fish"}[shell]
            (self.home / shell).mkdir()
            (self.home / shell / name).write_text(run(PROGRAMS[0], "help", "--format", shell))
        self.environment = {"PATH": f"{self.home}/bin:/usr/bin:/bin", "HOME": str(self.home),
                            "LC_ALL": "C.UTF-8", "TERM": "dumb"}

    def shell(self, *command, text=None):
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=600,
                              cwd=self.home, env=self.environment)
        return done.stdout + done.stderr

    def need(self, tool):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            self.skipTest(tool)

    def test_bash(self):
        for line, expected in self.LINES:
            script = (f"source bash/stepsim; COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}\n"
                      "read -ra typed <<<\"$COMP_LINE\"; COMP_WORDS=()\n"
                      "for word in \"${typed[@]}\"; do while [[ $word == *=* ]]; do\n"
                      "COMP_WORDS+=(\"${word%%=*}\" =); word=${word#*=}; done\n"
                      "COMP_WORDS+=(\"$word\"); done; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                      "_stepsim; printf '%s\\n' \"${COMPREPLY[@]}\"")
            self.assertIn(expected, self.shell("bash", "-c", script), line)
        self.assertIn("complete -F _stepsim stepsim",
                      self.shell("bash", "-ic", "source bash/stepsim; complete -p stepsim"))

    def test_zsh(self):
        self.need("zsh")
        for line, expected in self.LINES:
            script = ("zmodload zsh/zpty; zpty shell zsh -f -i\n"
                      "zpty -w shell 'PS1=; stty cols 200; fpath=($PWD/zsh $fpath)'\n"
                      "zpty -w shell 'autoload -Uz compinit; compinit -u -D; LISTMAX=1000'\n"
                      "zpty -w shell 'setopt no_beep; print rea\"\"dy'\n"
                      "while zpty -r shell answer; do [[ $answer == *ready* ]] && break; done\n"
                      f"zpty -n -w shell $'{line}\\t\\t'\n"
                      "setopt extendedglob; until [[ ${answer//$'\\e['[0-9;?]#[a-zA-Z]/} == "
                      f"*{shlex.quote(expected)}* ]]; do\n"
                      "zpty -r -t shell part '*' && answer+=$part; sleep 0.01; done\n"
                      "print -r -- \"$answer\"; zpty -d shell")
            shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.shell("zsh", "-f", "-c", script))
            self.assertIn(expected, shown, line)

    def test_fish(self):
        self.need("fish")
        for line, expected in self.LINES:
            self.assertIn(expected, self.shell(
                "fish", "--no-config", "-c", f"source fish/stepsim.fish; complete -C {line!r}"), line)


if __name__ == "__main__":
    PROGRAMS = [os.path.abspath(word) for word in sys.argv[1:]]
    del sys.argv[1:]
    unittest.main()
