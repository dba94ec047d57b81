#!/usr/bin/python3
"""The architecture checks find a planted violation of each kind, and nothing in a clean tree."""
import pathlib
import tempfile
import unittest

import architecture_test as checks
import declared_test as declared
import references_test as references

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = "#pragma once\n// A header.\n#include \"base/units.hpp\"\nnamespace stepsim::collectives {}\n"


def found(check, name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return list(check(pathlib.Path(folder)))


class Includes(unittest.TestCase):
    def test_a_clean_header_passes(self):
        self.assertEqual(found(checks.check_includes, "sim/collectives/a.hpp", CLEAN), [])

    def test_an_include_going_up_is_found(self):
        self.assertIn("collectives is below programs; includes go down", found(
            checks.check_includes, "sim/collectives/a.cpp", '#include "programs/step/pipeline.hpp"\n')[0])

    def test_a_third_party_header_outside_its_floor_is_found(self):
        for header in ["boost/graph/graph_traits.hpp", "nlohmann/json.hpp", "CLI/CLI.hpp", "zlib.h",
                       "pugixml.hpp", "openssl/evp.h", "fmt/core.h"]:
            self.assertEqual(len(found(checks.check_includes, "sim/collectives/a.cpp",
                                       f"#include <{header}>\n")), 1, header)

    def test_a_third_party_header_in_a_header_is_found_even_at_home(self):
        self.assertIn("no third-party header in a header", found(
            checks.check_includes, "sim/document/a.hpp", "#include <nlohmann/json.hpp>\n")[0])
        self.assertEqual(found(checks.check_includes, "sim/document/a.cpp", "#include <nlohmann/json.hpp>\n"), [])

    def test_a_path_that_is_not_from_sim_is_found(self):
        self.assertEqual(len(found(checks.check_includes, "sim/collectives/a.cpp", '#include "ring.hpp"\n')), 1)


class Cuda(unittest.TestCase):
    def found(self, header, include='"base/words.hpp"'):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (("calibrate/cuda/a.cu", f"#include {include}\n"), ("sim/base/b.hpp", header),
                               ("sim/base/words.hpp", '#pragma once\n#include "base/b.hpp"\n')):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(checks.check_cuda(root))

    def test_what_nvcc_12_does_not_know_is_found_in_headers_of_headers(self):
        for line in ("consteval int one() { return 1; }", "co_return 1;", "import std;",
                     "#include <expected>", "struct A { static int operator()(int); };"):
            found = self.found(CLEAN + line + "\n")
            self.assertEqual(len(found), 1, (line, found))
            self.assertTrue(found[0].startswith("sim/base/b.hpp:5: "), found)

    def test_headers_that_no_cu_file_includes_and_comments_may_name_it(self):
        self.assertEqual(self.found(CLEAN + "consteval int one();\n", "<vector>"), [])
        self.assertEqual(self.found(CLEAN + "// consteval\nconstexpr int one = 1;\n"), [])


class Names(unittest.TestCase):
    def names(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            for name, line in (("a", first), ("b", second)):
                path = pathlib.Path(folder, f"sim/collectives/{name}.cpp")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"namespace stepsim::collectives {{\nnamespace {{\n\n{line}\n\n"
                                "} // namespace\n} // namespace stepsim::collectives\n")
            return list(checks.check_names(pathlib.Path(folder)))

    def test_a_name_that_two_files_of_a_floor_have_is_found(self):
        for line in ("constexpr int kMost = 3;", "using Row = int;", "struct Row {\n  int a;\n};",
                     "double half(double x) {\n  return x / 2;\n}"):
            self.assertEqual(len(self.names(line, line)), 1, line)

    def test_overloads_and_local_names_pass(self):
        self.assertEqual(self.names("int f(int a) {\n  const int b = a;\n  return b;\n}",
                                    "int f(double a) {\n  const int b = 1;\n  return b;\n}"), [])


class Rules(unittest.TestCase):
    def rule(self, floor, line):
        return found(checks.check_rules, f"sim/{floor}/a.cpp", f"namespace stepsim::{floor} {{\n{line}\n}}\n")

    def test_each_rule_finds_its_violation(self):
        for line in ["struct A { virtual int f(); };", "auto a = std::make_unique<int*>(new int);",
                     "std::shared_ptr<int> a;", "#define A 1", "void f() { std::exit(1); }",
                     "void f() { std::cout << 1; }", 'void f() { fmt::print("a"); }',
                     'auto a = std::getenv("A");',
                     "std::random_device a;", "auto a = std::chrono::steady_clock::now();"]:
            self.assertEqual(len(self.rule("base", line)), 1, line)

    def test_calibrate_has_its_own_place(self):
        core = "namespace stepsim::calibrate {}\n"
        for name, line, problems in [("core", '#include "document/json.hpp"', 0),
                                     ("core", '#include "cli/shell/app.hpp"', 1),
                                     ("program", '#include "cli/shell/app.hpp"', 0),
                                     ("program", '#include "run/run.hpp"', 1)]:
            self.assertEqual(len(found(checks.check_includes, f"calibrate/{name}/a.cpp",
                                       line + "\n" + core)), problems, line)
        for name, line, problems in [("core", "void f() { std::cout << 1; }", 1),
                                     ("program", "void f() { std::cerr << 1; }", 0),
                                     ("program", "void f() { std::cout << 1; }", 1),
                                     ("program", "struct A { virtual int f(); };", 1)]:
            self.assertEqual(len(found(checks.check_rules, f"calibrate/{name}/a.cpp",
                                       core + line + "\n")), problems, line)
        self.assertEqual(len(found(checks.check_rules, "calibrate/core/a.cpp", "int a;\n")), 1)

    def test_comments_and_strings_are_not_code(self):
        for line in ["// a new rank, virtual or not", 'auto a = "new exit(1) std::cout";',
                     "auto a = '\"'; int b = 1'000'000;", "/* new\n virtual */"]:
            self.assertEqual(self.rule("base", line), [], line)

    def test_printing_is_the_right_of_cli(self):
        self.assertEqual(self.rule("cli", "void f() { std::cerr << 1; }"), [])

    def test_standard_output_and_files_have_one_writer(self):
        for line in ["void f() { std::cout << 1; }", 'std::ofstream a("b");', 'auto a = fopen("b", "w");',
                     "auto a = ::rename(b, c);", "auto a = ::unlink(b);",
                     "auto a = ::open(b, O_WRONLY);"]:
            self.assertEqual(len(self.rule("cli", line)), 1, line)

    def test_tests_compare_numbers_one_way(self):
        for line, problems in [("CHECK(a == doctest::Approx(1e-6).epsilon(1e-9));", 1),
                               ("using doctest::Approx;", 1), ("Approx ms(double value);", 1),
                               ("CHECK(a == within(1e-6, 1e-9)); // not Approx", 0)]:
            self.assertEqual(len(found(checks.check_rules, "tests/collectives/a_test.cpp", line + "\n")),
                             problems, line)

    def test_the_namespace_is_the_folder(self):
        self.assertEqual(len(found(checks.check_rules, "sim/base/a.cpp", "namespace other {}\n")), 1)


class Words(unittest.TestCase):
    def test_each_word_of_unfinished_work_is_found(self):
        for word in ["TO" "DO", "FIX" "ME", "not " "implemented", "Place" "holder"]:
            self.assertEqual(len(found(checks.check_words, "sim/a.cpp", f"// {word}: later\n")), 1)
        self.assertEqual(found(checks.check_words, "tests/a.sh", "mktemp -d /tmp/a." + "X" * 6), [])


class Sizes(unittest.TestCase):
    def test_a_file_over_400_lines_is_found(self):
        self.assertEqual(len(found(checks.check_sizes, "sim/base/a.cpp", "//\n" * 401)), 1)
        self.assertEqual(found(checks.check_sizes, "sim/base/a.cpp", "//\n" * 400), [])


class Headers(unittest.TestCase):
    def found(self, *names):
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("// A file.\n")
            return list(checks.check_headers(pathlib.Path(folder)))

    def test_a_source_without_its_header_is_found(self):
        self.assertEqual(self.found("sim/links/a.cpp", "sim/links/a.hpp", "sim/links/types.hpp"), [])
        self.assertEqual(self.found("sim/cli/main.cpp", "calibrate/program/main.cpp"), [])
        self.assertEqual(len(self.found("sim/links/a.cpp")), 1)
        self.assertEqual(len(self.found("sim/links/a.cpp", "sim/collectives/a.hpp")), 1)

    def test_two_files_of_one_name_are_found(self):
        self.assertEqual(len(self.found("sim/links/a.hpp", "sim/collectives/formula/a.hpp")), 1)
        self.assertEqual(len(self.found("sim/links/a.hpp", "calibrate/mpi/a.hpp", "sim/collectives/a.hpp")), 1)
        self.assertEqual(self.found("sim/links/a.hpp", "sim/collectives/b.hpp"), [])

    def test_programs_and_stand_ins_need_no_header(self):
        self.assertEqual(self.found(*sorted(checks.WITHOUT_HEADER)), [])
        for path in checks.WITHOUT_HEADER:
            self.assertTrue((ROOT / path).exists(), path)


class Declared(unittest.TestCase):
    HEADER = "#pragma once\nnamespace stepsim::collectives {\nstruct Ring {};\nint steps_of(int ranks);\n}\n"

    def found(self, source):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in [("sim/collectives/ring.hpp", self.HEADER),
                               ("sim/collectives/all.hpp", '#pragma once\n#include "collectives/ring.hpp"\n'),
                               ("sim/collectives/a.cpp", source)]:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(declared.check(root))

    def test_a_missing_header_of_ours_is_found(self):
        for use in ["Ring ring;", "int a = steps_of(2);", "int b = collectives::steps_of(2);"]:
            body = f"namespace stepsim::collectives {{\n{use}\n}}\n"
            self.assertEqual(len(self.found(body)), 1, use)
            for header in ["ring", "all"]:
                self.assertEqual(self.found(f'#include "collectives/{header}.hpp"\n{body}'), [], use)

    def test_what_the_file_declares_or_only_mentions_is_its_own(self):
        for own in ["struct Ring {};", "struct Ring;", "// Ring, steps_of(2)", 'auto a = "Ring";',
                    "int steps_of(int ranks) { return ranks; }", "int a = other.steps_of(2);"]:
            self.assertEqual(self.found(f"namespace stepsim::collectives {{\n{own}\n}}\n"), [], own)

    def test_a_missing_standard_header_is_found(self):
        self.assertEqual(len(self.found("std::vector<int> a;\n")), 1)
        self.assertEqual(self.found("#include <vector>\nstd::vector<int> a;\n"), [])


class References(unittest.TestCase):
    PAGE = "| section | rule |\n|---|---|\n| `COL 5.6` | a |\n| `MER A`, `MER B4` | b |\n"

    def labels(self, text):
        return [label for _, label in references.citations(text)]

    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in [("docs/references.md", self.PAGE), ("sim/a.hpp", text)]:
                (root / name).parent.mkdir()
                (root / name).write_text(content)
            return list(references.check_references(root))

    def test_every_way_to_cite_is_read(self):
        for text, labels in [("(COL 5.6)", ["COL 5.6"]), ("MER 8, fact 4.", ["MER 8"]),
                             ("COL 4, 5) and one", ["COL 4", "COL 5"]),
                             ("IO 19, K1 to K3)", ["IO 19", "IO K1", "IO K2", "IO K3"]),
                             ("COL 5.1 to 5.3.", ["COL 5.1", "COL 5.2", "COL 5.3"]),
                             ("MER 3 and 7, COL 11", ["MER 3", "MER 7", "COL 11"]),
                             ("MER 10.3, H)", ["MER 10.3", "MER H"]),
                             ("the rule of MER\n// 5.4", ["MER 5.4"]),
                             ("COL 4, P a power of two", ["COL 4"]),
                             ("FILE:LINE:COL: message", []), ("LINE and COL (in bytes)", [])]:
            self.assertEqual(self.labels(text), labels, text)

    def test_a_citation_without_a_row_is_found(self):
        self.assertEqual(self.problems("// COL 5.6, MER B4\n"), [])
        self.assertEqual(self.problems("//\n// COL 5.6, 5.7\n"),
                         ["sim/a.hpp:2: COL 5.7 has no row in docs/references.md"])

    def test_a_tree_without_citations_is_no_pass(self):
        self.assertEqual(len(self.problems("// nothing\n")), 1)


if __name__ == "__main__":
    unittest.main()
