#!/usr/bin/python3
"""What the compiler does not check: includes go down the floors, third-party headers stay in their
one place, no words of unfinished work, house rules of style, one header per file, names of a floor.

usage: architecture_test.py includes|rules|words|sizes|headers|names [SOURCE_DIR]
Prints every violation as FILE:LINE: message; exit 1 if there is one.
"""
import pathlib
import re
import sys

FLOORS = ["base", "events", "nccl", "buckets", "document", "plot", "links", "collectives", "layers",
          "programs", "scenario", "import", "run", "study", "cli"]

# Folders that share a namespace; the others have one of their own name.
NAMESPACES = {**dict.fromkeys(["document", "import", "scenario/files"], "io"),
              **dict.fromkeys(["scenario", "run", "study"], "study"), "study/reproduce": "reproduce"}

# Third-party header -> the floors whose .cpp files may include it.
THIRD_PARTY = {"boost/graph/": {"links"}, "boost/math/": {"base"}, "nlohmann/": {"document", "import"},
               "zlib.h": {"document"}, "CLI/": {"cli"}, "pugixml.hpp": {"import"}, "openssl/": {"document"},
               # Not base, events, collectives: gpu_bench is also built without libraries.
               "fmt/": {"document", "buckets", "links", "programs", "scenario", "import", "run", "study"}}

# Floors that calibrate may stand on (links: profiles are its values); `replay` also predicts with a
# run, and calibrate/program shares flags and output with the other program.
CALIBRATE_USES = {"base", "plot", "nccl", "links", "collectives", "document", "scenario", "import", "layers", "calibrate"}
CALIBRATE_REPLAY_USES = {"run", "programs", "buckets", "events"}
CALIBRATE_PROGRAM_USES = {"cli"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root, *folders, suffixes=(".cpp", ".hpp", ".cu", ".cuh")):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def check_includes(root):
    for path in sources(root, "sim", "calibrate"):
        relative = path.relative_to(root)
        in_calibrate = relative.parts[0] == "calibrate"
        floor = "calibrate" if in_calibrate else relative.parts[1]
        is_header = path.suffix in (".hpp", ".cuh")
        for number, line in enumerate(lines_of(path), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, name = match.groups()
            place = f"{relative}:{number}"
            for prefix, owner in THIRD_PARTY.items():
                if name.startswith(prefix) and is_header and prefix != "fmt/":  # messages are formats of fmt
                    yield f"{place}: {name}: no third-party header in a header of ours"
                elif name.startswith(prefix) and floor not in owner | {"calibrate"}:
                    yield f"{place}: {name}: only .cpp files of {', '.join(sorted(owner))} may include it"
            if kind == "<":
                if name.endswith(".hpp") and not any(name.startswith(p) for p in THIRD_PARTY):
                    yield f"{place}: <{name}>: not a known third-party header"
                continue
            target = name.split("/")[0]
            if in_calibrate:
                allowed = set(CALIBRATE_USES)
                if "replay" in path.stem:
                    allowed |= CALIBRATE_REPLAY_USES
                if relative.parts[1] == "program":
                    allowed |= CALIBRATE_PROGRAM_USES
                if target in FLOORS and target not in allowed:
                    yield f"{place}: {name}: calibrate stands on {', '.join(sorted(allowed))}"
            elif target == "calibrate":
                yield f"{place}: {name}: calibrate is never part of the simulator"
            elif "/" in name and target in FLOORS:
                if FLOORS.index(target) > FLOORS.index(floor):
                    yield f"{place}: {name}: {floor} is below {target}; includes go down"
            elif "/" in name or not name.startswith("git_hash"):
                yield f'{place}: "{name}": write the path from sim/, as in "base/units.hpp"'


# Rule of the house -> pattern over code without comments and strings, floors it holds for.
# calibrate/core counts as a floor below cli, the rest of calibrate as one beside it.
BELOW_CLI = FLOORS[:-1] + ["calibrate/core"]
EVERYWHERE = FLOORS + ["calibrate/core", "calibrate/program"]
RULES = [
    ("no inheritance, no virtual calls", r"\bvirtual\b|\boverride\b", EVERYWHERE),
    ("no shared_ptr", r"\bshared_ptr\b", EVERYWHERE),
    ("no new", r"(?<!\w)new\s+[A-Za-z_]", EVERYWHERE),
    ("no macro", r"^\s*#\s*define\b", EVERYWHERE),
    ("no exit below cli", r"(?<![\w.])(std::)?(exit|_exit|abort|quick_exit)\s*\(", BELOW_CLI),
    ("no printing below cli", r"std::(cout|cerr|clog)\b|(?<![\w])(std::)?f?printf\s*\(|\bputs\s*\(|\bfmt::print\b",
     BELOW_CLI),
    ("files are written by sim/document/file_write only",
     r"\bofstream\b|\bfopen\s*\(|\brename\s*\(|(?<!\w)::unlink\s*\(|\bO_(WRONLY|RDWR|CREAT)\b", EVERYWHERE),
    ("standard output is written by print_text and write_output", r"std::cout\b",
     ["cli", "calibrate/program"]),
    ("no environment below cli", r"\bgetenv\b", BELOW_CLI),
    ("no unseeded randomness", r"\brandom_device\b|(?<![\w:.])s?rand\s*\(", EVERYWHERE),
    ("no wall clock below scenario", r"\b(system_clock|steady_clock)\b|\btime\s*\(\s*(0|nullptr)\s*\)",
     FLOORS[:FLOORS.index("scenario")] + ["calibrate/core"]),
]

# The same for tests, all folders.
TEST_RULES = [
    ("numbers are compared with within and plus_minus of tests/testing/tolerance.hpp", r"\bApprox\b"),
    ("what passes here passes elsewhere: seeds are fixed", r"\brandom_device\b"),
]

# (file without its suffix, rule) -> why it is allowed there.
EXCEPTIONS = {
    ("sim/document/file_target", "files are written by sim/document/file_write only"): "its targets and locks",
    ("sim/document/file_write", "files are written by sim/document/file_write only"): "here",
    ("sim/base/shared_list", "no shared_ptr"): "lists of a workload are large, and copies of a scenario share them",
    ("sim/document/json", "no shared_ptr"): "all nodes of a tree share the name of their file",
    ("sim/document/json_parse", "no shared_ptr"): "the same",
    ("sim/links/fabric/placement", "no shared_ptr"): "routes of a fabric are large, and made once for all that run on it",
    ("sim/collectives/collective", "no shared_ptr"): "the same",
    ("sim/scenario/files", "no shared_ptr"): "the same",
    ("sim/scenario/scenario", "no shared_ptr"): "the same",
    ("sim/scenario/node_source", "no shared_ptr"): "a calibration is large, and read once for all that use it",
    ("sim/programs/job/network_job", "no shared_ptr"): "the same",
    ("sim/base/vector_clones", "no macro"): "target_clones is an attribute that only x86 knows",
    ("sim/base/vector_clones", "namespace = folder"): "it holds nothing but that macro",
}


def namespace_of(relative):
    """The namespace of a file of sim: that of its folder below the room, if the table has one, or of its room."""
    inner = "/".join(relative.parts[1:3])
    return NAMESPACES.get(inner) or NAMESPACES.get(relative.parts[1], relative.parts[1])


def code_only(text):
    """Comments and literals become blanks, line numbers stay."""
    pattern = re.compile(
        r'R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def check_rules(root):
    for path in sources(root, "sim", "calibrate"):
        relative = path.relative_to(root)
        in_calibrate = relative.parts[0] == "calibrate"
        floor = "/".join(relative.parts[:2]) if in_calibrate else relative.parts[1]
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".hpp" and not text.startswith("#pragma once\n"):
            yield f"{relative}:1: a header starts with #pragma once"
        for number, line in enumerate(code_only(text).splitlines(), 1):
            for rule, pattern, floors in RULES:
                allowed = (str(relative.with_suffix("")), rule) in EXCEPTIONS
                if floor in floors and not allowed and re.search(pattern, line):
                    yield f"{relative}:{number}: {rule}: {line.strip()}"
        if floor in EVERYWHERE and path.suffix in (".cpp", ".hpp"):
            name = relative.parts[0] if in_calibrate else namespace_of(relative)
            wanted = f"namespace stepsim::{name}"
            excepted = (str(relative.with_suffix("")), "namespace = folder") in EXCEPTIONS
            if wanted not in text and "int main(" not in text and not excepted:
                yield f"{relative}:1: namespace = folder: no {wanted}"
    for path in sources(root, "tests"):
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(code_only(text).splitlines(), 1):
            for rule, pattern in TEST_RULES:
                if re.search(pattern, line):
                    yield f"{path.relative_to(root)}:{number}: {rule}: {line.strip()}"


# Spelt in pieces, so that this file does not find itself.
UNFINISHED = re.compile("TO" "DO|FIX" "ME|XX" "X|not imple" "mented|place" "holder", re.I)
TEXT_SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".sh", ".md", ".cmake", ".txt", ".ipynb",
                 ".cff", ".json", ".sbatch", ""}


def check_words(root):
    for folder in ["sim", "calibrate", "tests", "notebooks", "docs", "examples", "schemas", "reproduce", ".ci"]:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts:
                yield from unfinished(path, root)
    for path in sorted(root.iterdir()):
        if path.is_file() and path.suffix in TEXT_SUFFIXES and path.name != ".git":
            yield from unfinished(path, root)


def unfinished(path, root):
    for number, line in enumerate(lines_of(path), 1):
        # mktemp patterns are the one honest use of these letters.
        if UNFINISHED.search(line.replace("X" * 6, "")):
            yield f"{path.relative_to(root)}:{number}: unfinished work: {line.strip()[:80]}"


# A file above 400 lines needs a reason, and the reason stands here.
LONG_FILES: set[str] = set()


def check_sizes(root):
    counts = []
    for path in sources(root, "sim", "calibrate"):
        counts.append((len(lines_of(path)), path.relative_to(root)))
    counts.sort(reverse=True, key=lambda item: item[0])
    middle = counts[len(counts) // 2][0]
    tenth = counts[len(counts) // 10][0]
    print(f"{len(counts)} files, {sum(c for c, _ in counts)} lines, median {middle}, "
          f"90th percentile {tenth}")
    for count, path in counts[:10]:
        print(f"{count:6} {path}")
    for count, path in counts:
        if count > 400 and str(path) not in LONG_FILES:
            yield f"{path}:1: {count} lines; 400 needs a reason (LONG_FILES in this test)"


# A program of its own, and what stands in for routes where a program is built without networks.
WITHOUT_HEADER = {"calibrate/cuda/gpu_bench.cpp", "calibrate/cuda/alone/no_routes.cpp"}


def check_headers(root):
    """Every .cpp has the header of its name or begins with the one of its concept, and no two files of different folders share a name."""
    by_name = {}
    for path in sources(root, "sim", "calibrate"):
        relative = str(path.relative_to(root))
        by_name.setdefault(path.name, []).append(relative)
        needs = path.suffix == ".cpp" and path.name != "main.cpp" and relative not in WITHOUT_HEADER
        first = next((line for line in lines_of(path) if line.startswith('#include "')), "")
        concept = path.parent / first.removeprefix('#include "').rstrip('"\n').rpartition("/")[2]
        declared = path.with_suffix(".hpp").exists() or (first and concept.exists())
        if needs and not declared:
            yield f"{relative}:1: no header {path.stem}.hpp beside it declares what it defines"
    for name, paths in sorted(by_name.items()):
        if len(paths) > 1 and name != "main.cpp":
            yield f"{paths[0]}:1: {', '.join(paths[1:])}: two files have one name"


# What a line at the left margin of an unnamed namespace declares: a type, an alias, a constant, or a
# function with its parameters.
DECLARED = re.compile(
    r"(?:template\s*<[^\n]*>\s*)?(?:struct|class|enum class|enum)\s+(\w+)"
    r"|using\s+(\w+)\s*="
    r"|(?:inline\s+|static\s+)?(?:constexpr|const)\s+[^(=;{]*?\b(\w+)(?:\[\w*\])*\s*(?:=|\{|;)"
    r"|(?:\[\[[\w:]+\]\]\s*)*[\w:<>,&*\s]+?[\s&*](\w+)\(([^;]*?)\)\s*(?:const\s*)?(?:->.*)?\{?", re.S)


def unnamed_names(text):
    """(line, name, types of the parameters) of what stands in unnamed namespaces."""
    for match in re.finditer(r"^namespace \{\n", text, re.M):
        end = text.find("\n} // namespace\n", match.end())
        body = text[match.end():end]
        for start in re.finditer(r"^(?=[A-Za-z\[])(?!namespace|public|private|protected)", body, re.M):
            found = DECLARED.match(body[start.start():start.start() + 600])
            if found:
                types = [part.split() for part in (found[5] or "").split(",")]
                yield (text.count("\n", 0, match.end() + start.start()) + 1,
                       found[1] or found[2] or found[3] or found[4],
                       tuple(" ".join(words[:-1] if len(words) > 1 else words) for words in types))


def check_names(root):
    """Names in unnamed namespaces are unique within a floor, whose files are compiled together."""
    places = {}
    for path in sources(root, "sim", "calibrate", suffixes=(".cpp", ".cu")):
        relative = path.relative_to(root)
        floor = relative.parent if relative.parts[0] == "calibrate" else relative.parts[1]
        for number, name, types in unnamed_names(path.read_text(encoding="utf-8")):
            first = places.setdefault((floor, path.suffix, name, types), f"{relative}:{number}")
            if not first.startswith(f"{relative}:"):
                yield f"{relative}:{number}: {name} stands in {first} too"


# What nvcc 12 (front end EDG 6.5) does not take, though GCC 12 does: immediate functions, coroutines,
# modules, and C++23.
NEWER_THAN_NVCC_12 = re.compile(
    r"\b(consteval|co_(?:await|yield|return)|if\s+!?consteval)\b|^\s*(?:export\s+)?(?:import|module)\s+[\w<\":.]+;"
    r"|\(this\s+auto\b|\bstatic\s+[\w:<>&*\s]*operator\s*(?:\(\)|\[\])|#\s*include\s*<(?:expected|print|generator|mdspan|coroutine|format)>",
    re.M)


def check_cuda(root):
    """No .cu file and no header that one includes uses what nvcc 12 does not know."""
    waiting = list(sources(root, "calibrate", suffixes=(".cu",)))
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        text = code_only(path.read_text(encoding="utf-8"))
        for match in NEWER_THAN_NVCC_12.finditer(text):
            yield (f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: "
                   f"{match[0].strip()}: nvcc 12 does not take it, and a .cu file includes this")
        for line in lines_of(path):
            match = INCLUDE.match(line)
            for header in (root / "sim" / match[2], root / match[2]) if match and match[1] == '"' else ():
                if header.is_file() and header not in seen:
                    seen.add(header)
                    waiting.append(header)


CHECKS = {"cuda": check_cuda, "names": check_names, "includes": check_includes, "rules": check_rules, "words": check_words,
          "sizes": check_sizes, "headers": check_headers}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    here = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else here
    problems = list(CHECKS[sys.argv[1]](root))
    print("\n".join(problems) if problems else f"{sys.argv[1]}: nothing found")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
