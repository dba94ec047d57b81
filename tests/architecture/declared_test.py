#!/usr/bin/python3
"""Every file includes, itself or through headers of ours, what declares the names that it uses.

A unity build compiles many files together, so that the compiler misses an include that another file
of the batch has. This check reads words only: names that one header alone declares at the level of
its namespace, and the common names of the standard library.

usage: declared_test.py [SOURCE_DIR]
Prints every violation as FILE:LINE: message; exit 1 if there is one.
"""
import collections
import functools
import pathlib
import re
import sys

import architecture_test as architecture

# Name of the standard library -> headers any one of which is enough.
STANDARD = {
    "vector": ["vector"], "map": ["map"], "multimap": ["map"], "set": ["set"],
    "unordered_map": ["unordered_map"], "unordered_set": ["unordered_set"], "deque": ["deque"],
    "queue": ["queue"], "priority_queue": ["queue"], "array": ["array"], "to_array": ["array"],
    "span": ["span"], "optional": ["optional"], "nullopt": ["optional"], "variant": ["variant"],
    "visit": ["variant"], "holds_alternative": ["variant"], "get_if": ["variant"],
    "function": ["functional"], "unique_ptr": ["memory"], "shared_ptr": ["memory"],
    "make_unique": ["memory"], "make_shared": ["memory"], "tuple": ["tuple"], "tie": ["tuple"],
    "accumulate": ["numeric"], "iota": ["numeric"], "partial_sum": ["numeric"], "gcd": ["numeric"],
    "bit_cast": ["bit"], "has_single_bit": ["bit"], "bit_width": ["bit"], "bit_ceil": ["bit"],
    "numeric_limits": ["limits"], "to_chars": ["charconv"], "from_chars": ["charconv"],
    "ostringstream": ["sstream"], "istringstream": ["sstream"], "ifstream": ["fstream"],
    "ofstream": ["fstream"], "thread": ["thread"], "jthread": ["thread"], "mutex": ["mutex"],
    "lock_guard": ["mutex"], "unique_lock": ["mutex"], "condition_variable": ["condition_variable"],
    "atomic": ["atomic"], "bitset": ["bitset"], "setw": ["iomanip"], "setprecision": ["iomanip"],
    "regex": ["regex"], "complex": ["complex"],
    "sort": ["algorithm"], "stable_sort": ["algorithm"], "find_if": ["algorithm"],
    "any_of": ["algorithm"], "all_of": ["algorithm"], "none_of": ["algorithm"],
    "lower_bound": ["algorithm"], "upper_bound": ["algorithm"], "max_element": ["algorithm"],
    "min_element": ["algorithm"], "transform": ["algorithm"], "clamp": ["algorithm"],
    "sqrt": ["cmath"], "exp": ["cmath"], "log": ["cmath"], "log2": ["cmath"], "pow": ["cmath"],
    "isfinite": ["cmath"], "isnan": ["cmath"], "floor": ["cmath"], "ceil": ["cmath"],
    "llround": ["cmath"], "lround": ["cmath"],
    "string": ["string"], "to_string": ["string"], "stod": ["string"],
    "string_view": ["string_view", "string"],
    "ranges::sort": ["algorithm"], "ranges::find": ["algorithm"], "ranges::find_if": ["algorithm"],
    "ranges::any_of": ["algorithm"], "ranges::all_of": ["algorithm"],
    "ranges::max_element": ["algorithm"], "filesystem": ["filesystem"], "chrono": ["chrono"],
}

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
WORD = re.compile(r"(?:\b[A-Za-z_]\w*::)*\b[A-Za-z_]\w*")
TYPE = re.compile(r"\b(?:struct|class|enum(?:\s+class)?)\s+([A-Z]\w*)(?:\s+final)?\s*(?::[^;{]*)?\{")
FORWARD = re.compile(r"\b(?:struct|class|enum(?:\s+class)?)\s+([A-Z]\w*)\s*(?::\s*[\w:]+\s*)?;")
ALIAS = re.compile(r"\busing\s+([A-Z]\w*)\s*=")
CONSTANT = re.compile(r"\bconstexpr\b[^;={()]*?\b(k[A-Z]\w*)\s*[={(]")
LOCAL_CONSTANT = re.compile(r"\b(k[A-Z]\w*)\s*(?:[={(\[;,]|>>)")
PARAMETER = re.compile(r"\btemplate\s*<[^>]*?\b([A-Z]\w*)\s*[,>=]|\b(?:typename|class|\.\.\.)\s*([A-Z]\w*)")
VARIABLE = re.compile(r"\b(?:auto|[\w>]+)[&*]?\s+[&*]?(\w+)\s*(?:[={(\[;,)]|:\s)")
NAMESPACE = re.compile(r"\bnamespace\s+(\w+(?:\s*::\s*\w+)*)\s*[{=;]")
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\]\s*)?(?:(?:inline|constexpr|static)\s+)*[\w:<>,&*\s]+?"
                      r"[\s&*>]([a-z]\w*)\s*\(", re.M)


def without_texts(text):
    """The text with comments, strings and characters blanked; lines stay."""
    return TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def at_namespace_level(code):
    """What stands outside every brace but those of namespaces; a brace that opens stays."""
    kept, stack = [], []
    begin = 0
    for match in re.finditer(r"[{}]", code):
        inside = any(kind != "namespace" for kind in stack)
        piece = code[begin:match.start() + (match.group() == "{")]
        if not inside:
            kept.append(piece)
        if match.group() == "{":
            head = code[max(0, match.start() - 200):match.start()]
            is_space = re.search(r'(?:\bnamespace\b[\w:\s]*|\bextern\s*)$', head)
            stack.append("namespace" if is_space else "body")
        elif stack:
            stack.pop()
        begin = match.end()
    if not stack:
        kept.append(code[begin:])
    return "\n".join(kept)


class File:
    def __init__(self, path, root):
        text = path.read_text(encoding="utf-8")
        self.code = without_texts(text)
        self.is_header = path.suffix in (".hpp", ".cuh")
        self.standard, self.ours = set(), []
        for line in text.splitlines():
            match = architecture.INCLUDE.match(line)
            if match and match.group(1) == "<":
                self.standard.add(match.group(2))
            elif match:
                self.ours += [folder / match.group(2) for folder in
                              (root / "sim", root, root / "tests", path.parent)
                              if (folder / match.group(2)).is_file()][:1]
        outside = at_namespace_level(self.code)
        self.declared = set(TYPE.findall(outside)) | set(ALIAS.findall(outside))
        self.declared |= set(CONSTANT.findall(outside))
        functions = set(FUNCTION.findall(outside)) - {"static_assert", "decltype", "operator"}
        self.declared |= functions if self.is_header else set()
        self.forward = set(FORWARD.findall(self.code))
        self.local = set(TYPE.findall(self.code)) | set(ALIAS.findall(self.code))
        self.local |= set(LOCAL_CONSTANT.findall(self.code)) | self.forward
        self.local |= set(FUNCTION.findall(self.code)) | set(VARIABLE.findall(self.code))
        self.local |= {name for names in PARAMETER.findall(self.code) for name in names}
        self.namespaces = {part for names in NAMESPACE.findall(self.code) for part in re.split(r"\s*::\s*", names)}


class Tree:
    def __init__(self, root):
        self.root = root
        folders = [name for name in ("sim", "calibrate", "tests") if (root / name).is_dir()]
        # A stand-in for the headers of CUDA, which its users include as <cuda_runtime.h>.
        self.files = {path: File(path, root) for path in architecture.sources(root, *folders)
                      if "cuda_on_cpu" not in path.parts}
        owners = collections.defaultdict(list)
        for path, file in self.files.items():
            if file.is_header:
                for name in file.declared:
                    owners[name].append(path)
        # A name that several headers declare, or that a source declares too, tells nothing.
        spaces = set().union(*(file.namespaces for file in self.files.values()))
        self.owner = {name: paths[0] for name, paths in owners.items() if len(paths) == 1 and name not in spaces}

    @functools.cache
    def reached(self, path):
        """The headers of ours and of the standard library that a file includes in the end."""
        ours, standard, waiting = set(), set(), [path]
        while waiting:
            file = self.files.get(waiting.pop())
            if file is None:
                continue
            standard |= file.standard
            for header in file.ours:
                if header not in ours:
                    ours.add(header)
                    waiting.append(header)
        return ours, standard

    def problems(self, path):
        file = self.files[path]
        ours, standard = self.reached(path)
        known = set(file.local)
        for header in ours:
            known |= self.files[header].local if header in self.files else set()
        reported = set()
        for match in WORD.finditer(file.code):
            name = match.group(0)
            if name in reported or file.code[max(0, match.start() - 2):match.start()].endswith((".", "->")):
                continue
            is_call = file.code[match.end():match.end() + 1] == "("
            problem = self.problem_of(name, is_call, path, ours, standard, known)
            if problem:
                reported.add(name)
                line = file.code.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(self.root)}:{line}: {problem}"

    def problem_of(self, name, is_call, path, ours, standard, known):
        if name == "assert" and is_call:
            return None if "cassert" in standard else "assert: include <cassert>"
        if name.startswith("std::"):
            wanted = STANDARD.get(name[5:]) or STANDARD.get(name[5:].split("::")[0])
            if wanted and not standard & set(wanted):
                return f"{name}: include <{wanted[0]}>"
            return None
        last = name.split("::")[-1]
        first = name.split("::")[0]
        if "::" in name and first[0].islower():
            wanted = next((part for part in name.split("::") if part in self.owner), None)
        elif last == name and (name[0].isupper() or re.match(r"k[A-Z]", name) or is_call):
            wanted = name
        else:
            return None
        owner = self.owner.get(wanted)
        if owner is None or owner == path or owner in ours or wanted in known:
            return None
        # The same word in another namespace is another name.
        spaces = self.files[owner].namespaces
        qualifiers = name.split("::")[:name.split("::").index(wanted)]
        here = set(qualifiers[-1:]) or self.files[path].namespaces - {"stepsim"}
        if not spaces & here and spaces != {"stepsim"}:
            return None
        return f'{name}: include "{owner.relative_to(self.root)}"'


def check(root):
    tree = Tree(root)
    for path in tree.files:
        yield from tree.problems(path)


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found = list(check(source))
    print("\n".join(found) or "declared: nothing found")
    sys.exit(1 if found else 0)
