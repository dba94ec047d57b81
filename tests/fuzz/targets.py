"""What mutate.py damages, and the commands that read it. A target is a function that fills a folder and
gives the seeds; commands run in that folder."""
import dataclasses
import json
import pathlib
import subprocess

import samples

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Seed:
    name: str       # for messages
    content: bytes
    shape: str      # tree (JSON), lines (JSON Lines, CSV of a sweep) or bytes
    mutant: str     # file that the commands read
    commands: list  # [program, argument...]


def stepsim(*arguments):
    return ["stepsim", *arguments]


COMMANDS = {
    "scenario": stepsim("run", "mutant.json", "-o", "out.json", "--json"),
    "problem": stepsim("plan", "mutant.json", "-o", "out.json", "--json"),
    "links": stepsim("collective", "--op", "allreduce", "--algorithm", "ring,lp", "--ranks", "4",
                     "--bytes", "1kB", "--latency", "1us", "--bandwidth", "1GB/s", "--links",
                     "mutant.json", "-o", "out.json"),
    "collective": stepsim("collective", "mutant.json", "-o", "out.json", "--json", "--max-seconds", "5"),
    "topology": stepsim("topologies", "show", "./mutant.json"),
    "network_calibration": stepsim("topologies", "show", "./mutant.json"),
    "model": stepsim("models", "show", "./mutant.json"),
    "sweep": stepsim("sweep", "mutant.json", "--dry-run"),
    "flows": stepsim("flows", "mutant.json", "-o", "out.json", "--json"),
    "program": stepsim("explain", "mutant.json", "-o", "out.json", "--json"),
    "compression_breakeven": stepsim("compare", "mutant.json", "--break-even", "-o", "out.json", "--json"),
    "sparse_semantics": stepsim("semantics", "mutant.json"),
}
CHECK = stepsim("check", "mutant.json", "--json")


def files(programs, folder):
    """Our files through the command of their kind, and through `check`."""
    seeds = []
    for place, limit in (("examples", 100), ("topologies", 8), ("models", 3), ("traces", 2)):
        paths = sorted((ROOT / place).glob("*.json"), key=lambda p: (p.stat().st_size, p.name))
        for path in paths[:limit]:
            content = path.read_bytes()
            (folder / path.name).write_bytes(content)  # what examples refer to
            command = COMMANDS.get(json.loads(content).get("kind"), CHECK)
            seeds.append(Seed(path.name, content, "tree", "mutant.json", [command, command, CHECK]))
    costed = {**SCENARIO, "cluster": {"nodes": 4, "network": {"cost": "mutant.json"}}}
    (folder / "costed.json").write_text(json.dumps(costed))
    seeds.append(Seed("line costs", samples.line_costs(), "tree", "mutant.json",
                      [stepsim("run", "costed.json", "-o", "out.json", "--json"), CHECK]))
    return seeds


SCENARIO = {"kind": "scenario", "workload": {"layers": [
    {"name": "a", "forward_s": 1e-2, "backward_s": 2e-2, "gradient_bytes": 10_000_000}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}},
    "communication": {"schedule": "single"}}
SWEEP = {"kind": "sweep", "scenario": SCENARIO, "axes": [
    {"field": "/cluster/nodes", "values": [2, 0, 3]}, {"field": "/seed", "values": [1, 2]}]}


def shards(programs, folder):
    """Files of two shards and of the whole sweep in both formats; some of the points fail."""
    (folder / "sweep.json").write_text(json.dumps(SWEEP))
    made = []
    for ending in ("jsonl", "csv"):
        for name, flags in ((f"whole.{ending}", []), (f"part0.{ending}", ["--shard", "0/2"]),
                            (f"part1.{ending}", ["--shard", "1/2"])):
            place = name if not flags else "{shard}." + ending
            subprocess.run([programs["stepsim"], "sweep", "sweep.json", "-o", place, "--quiet", *flags],
                           cwd=folder, check=False, capture_output=True)
            if flags:
                (folder / f"{name[4]}-of-2.{ending}").rename(folder / name)
            made.append((folder / name, ending))
    return made


def merge(programs, folder):
    """Damaged shards beside whole ones."""
    seeds = []
    for path, ending in shards(programs, folder):
        name = "mutant." + ending
        other = {"part0": "part1", "part1": "part0"}.get(path.stem)
        commands = [stepsim("merge", name, "-o", "out"), stepsim("merge", name, "-o", "/dev/null")]
        if other:
            commands.append(stepsim("merge", f"{other}.{ending}", name, "-o", "out"))
            commands.append(stepsim("merge", name, name, f"{other}.{ending}", "-o", "out"))
        seeds.append(Seed(path.name, path.read_bytes(), "lines", name, commands))
    return seeds


def resume(programs, folder):
    """Damaged outputs that a sweep goes on with."""
    seeds = []
    for path, ending in shards(programs, folder):
        name = "mutant." + ending
        shard = {"part0": ["--shard", "0/2"], "part1": ["--shard", "1/2"]}.get(path.stem, [])
        # With a shard the output is named after it, unless the name has a place for it.
        mutant = f"mutant.shard-{shard[1].replace('/', '-of-')}.{ending}" if shard else name
        command = stepsim("sweep", "sweep.json", "-o", name, *shard, "--resume", "--quiet")
        seeds.append(Seed(path.name, path.read_bytes(), "lines", mutant, [command]))
    return seeds


def imports(programs, folder):
    """Inputs of every importer, and of `stepsim-calibrate fit` and `report`."""
    seeds = []
    for form, (name, content, flags) in samples.IMPORTS.items():
        mutant = "mutant" + pathlib.Path(name).suffix
        word = form.split(",")[0]
        commands = [stepsim("import", word, mutant, *flags, "-o", "out.json")] * 3
        commands.append(stepsim("import", "auto", mutant, *flags, "-o", "out.json"))
        if word == "kineto":
            commands.append(stepsim("import", word, mutant, "--cost", "link.cost.json", "-o", "out.json"))
        if word in ("osu", "nccl-tests"):
            commands.append(["stepsim-calibrate", "fit", mutant, "--op", "allreduce", *flags, "-o", "out.json"])
        if word == "hf-config":
            commands.append(stepsim("models", "show", "./mutant.json"))
        data = content()
        shape = "lines" if form == "nccl-inspector" else "tree" if data[:1] == b"{" else "bytes"
        seeds.append(Seed(form, data, shape, mutant, commands))
    # Files that say how large the gradients of a trace are.
    (folder / "rank0.json").write_bytes(samples.kineto())
    for flag, name, content in (("--sizes", "mutant.csv", samples.size_table()),
                                ("--ddp-log", "mutant.txt", samples.ddp_log()),
                                ("--flight-record", "mutant.json", samples.flight_record()),
                                ("--pytorch-et", "mutant.json", samples.execution_trace())):
        shape = "tree" if name.endswith(".json") else "bytes"
        seeds.append(Seed(flag, content, shape, name, [
            stepsim("import", "kineto", "rank0.json", flag, name, "-o", "out.json")]))
    golden = ROOT / "tests/golden/input"
    seeds.append(Seed("machine.xml", (golden / "machine.xml").read_bytes(), "bytes", "mutant.xml",
                      [stepsim("import", "nccl-topology", "mutant.xml", "-o", "out.json")]))
    seeds.append(Seed("two-regimes.csv", (golden / "two-regimes.csv").read_bytes(), "bytes",
                      "mutant.csv", [["stepsim-calibrate", "fit", "mutant.csv", "-o", "out.json"]]))
    seeds.append(Seed("errors.jsonl", (golden / "errors.jsonl").read_bytes(), "lines", "mutant.jsonl",
                      [["stepsim-calibrate", "report", "mutant.jsonl"],
                       ["stepsim-calibrate", "report", "mutant.jsonl", "--json", "-o", "out.json"]]))
    samples_file = ROOT / "examples/h100x8.samples.json"
    seeds.append(Seed(samples_file.name, samples_file.read_bytes(), "tree", "mutant.json",
                      [["stepsim-calibrate", "fit", "mutant.json", "-o", "out.json"]]))
    return seeds


def results(programs, folder):
    """Results, and records of sweeps, through what reads a result or a scenario."""
    (folder / "s.json").write_text(json.dumps(SCENARIO))
    made = []
    for name, arguments in (
            ("result.json", ["run", "s.json", "--json"]),
            ("traced.json", ["run", str(ROOT / "examples/two-layers.scenario.json"), "--json"]),
            ("flows.json", ["flows", str(ROOT / "examples/incast.flows.json"), "--json"]),
            ("compare.json", ["compare", "s.json", "--over", "/cluster/nodes=2,3", "--json"]),
            ("records.jsonl", ["sweep", "s.json", "--over", "/cluster/nodes=2,3"])):
        subprocess.run([programs["stepsim"], *arguments, "-o", name, "--quiet"], cwd=folder, check=True,
                       capture_output=True)
        made.append(folder / name)
    seeds = []
    for path in made:
        mutant = "mutant" + path.suffix
        commands = [stepsim("run", mutant, "-o", "out.json", "--json"), stepsim("check", mutant),
                    stepsim("compare", mutant, "-o", "out.csv"),
                    stepsim("solve", mutant, "--vary", "/cluster/nodes=1..8", "--target",
                            "speedup=1.5", "-o", "out.json"),
                    ["stepsim-calibrate", "report", mutant]]
        seeds.append(Seed(path.name, path.read_bytes(), "lines" if path.suffix == ".jsonl" else "tree",
                          mutant, commands))
    return seeds


TARGETS = {"files": files, "merge": merge, "resume": resume, "imports": imports, "results": results}
