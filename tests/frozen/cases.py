"""Cases of the frozen net: files and commands, made from a seed with the help of the reference program.

A case is {"files": {name: text}, "commands": [{"name", "arguments", "input"}]}. Every command writes its
document to the file OUTPUT. The reference program says which keys of a random scenario are refused, how long
its iteration takes (for `solve`), and what its program is (for `run` and `explain` of a program).
"""
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "random"), str(ROOT / "tests")]
import net  # noqa: E402
import random_test  # noqa: E402
import schema  # noqa: E402

OUTPUT = "o.json"
LIMIT = ["--max-seconds", "3"]
# In one process, so that its start is paid once: the module's `run` of the scenario and of one change.
PYTHON = ("import json, stepsim; s = json.load(open('s.json')); n = s['cluster']['nodes']; "
          "json.dump([stepsim.run(s), stepsim.run(s, {'/cluster/nodes': max(1, n // 2)})], open('o.json', 'w'))")
KNOBS = ["bucket_bytes", "fusion_bytes", "cycle_s", "partition_bytes", "credit_bytes", "block_bytes",
         "pipeline_width", "density", "collective"]
PLANNERS = "wfbp,single,ddp,horovod,mg_wfbp,mg_wfbp_small_tensors,optimal,eager,exhaustive,fixed_count"


def words_of(kind, key):
    """Every word that a key of a kind of file may have."""
    found = []

    def walk(part):
        if isinstance(part, dict):
            found.extend(word for word in part.get("enum", []) if isinstance(word, str))
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)
    walk(schema.load(kind)["properties"][key])
    return found


OPERATIONS = words_of("collective", "op")
ALGORITHMS = words_of("collective", "algorithm")
SPARSE = ALGORITHMS[ALGORITHMS.index("topk"):ALGORITHMS.index("powersgd")]


def command(name, *arguments, given=None):
    return {"name": name, "arguments": list(arguments), "input": given}


def log_uniform(rng, low, high):
    return float(f"{10 ** rng.uniform(low, high):.3g}")


def collective(rng):
    """Flags of `collective`; all-reduces are half of them."""
    allreduce = rng.random() < 0.5
    algorithm = rng.choice(ALGORITHMS) if allreduce else rng.choice(["auto", "ring", "be", "mst", rng.choice(ALGORITHMS)])
    flags = ["--op", "allreduce" if allreduce else rng.choice(OPERATIONS), "--algorithm", algorithm,
             "--ranks", str(rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64])),
             "--bytes", str(rng.choice([0, 8, 1000, 4096, 10**6, 26214400, 10**8])),
             "--latency", f"{log_uniform(rng, -6, -4)}s", "--bandwidth", f"{log_uniform(rng, 8, 11)}B/s"]
    if rng.random() < 0.5:
        flags += ["--gpus-per-node", str(rng.choice([2, 4, 8])), "--intra-latency", "1us",
                  "--intra-bandwidth", f"{log_uniform(rng, 10, 11.5)}B/s"]
    if rng.random() < 0.4:
        flags += ["--method", rng.choice(["closed_form", "max_plus", "events"])]
    if rng.random() < 0.3:
        flags += ["--reduction-rate", "1e10B/s"]
    if algorithm in SPARSE:
        flags += ["--density", rng.choice(["0.001", "0.01", "0.1"])]
    return command("collective", "collective", *flags, "--json")


def problem(rng):
    """A file of kind problem."""
    count = rng.randint(1, 12)
    cost = ({"startup_s": log_uniform(rng, -6, -3), "per_byte_s": log_uniform(rng, -11, -8)} if rng.random() < 0.7
            else {"table": [[1000.0, 1e-4], [20000.0, 2e-4], [1e6, log_uniform(rng, -3.5, -2.5)]]})
    out = {"kind": "problem", "ready_s": sorted(log_uniform(rng, -5, -1) for _ in range(count)),
           "bytes": [rng.randint(0, 10**rng.randint(1, 8)) for _ in range(count)], "cost": cost}
    if rng.random() < 0.5:
        out["forward_s"] = log_uniform(rng, -4, -1)
    if rng.random() < 0.2:
        out["copy_bandwidth_Bps"] = 1e10
    return out


def flows(rng):
    """A file of kind flows, small enough for packets."""
    hosts = rng.choice([2, 4, 9])
    kinds = [{"generate": "incast", "senders": rng.randint(1, hosts - 1)}, {"generate": "permutation"}]
    out = {"kind": "flows", "seed": rng.randint(0, 99),
           "topology": {"preset": "star", "hosts": hosts, "bandwidth_Bps": log_uniform(rng, 8, 10), "latency_s": 1e-6},
           "network": {"model": rng.choice(["flow", "packet"])},
           "flows": [{**rng.choice(kinds), "size_bytes": rng.choice([1000, 65536, 300000])}
                     for _ in range(rng.choice([1, 1, 2]))]}
    if out["network"]["model"] == "packet":
        out["network"]["packet"] = {"transport": {"kind": rng.choice(["dctcp", "reno", "dlcp", "pfabric"])}}
    if rng.random() < 0.3:
        out["start_jitter_s"] = 1e-5
    return out


def second_axis(rng, document):
    """A number of the scenario, and two values around it."""
    layers = document["workload"].get("layers") if isinstance(document["workload"], dict) else None
    network = document["cluster"]["network"]
    if "bandwidth_Bps" in network and rng.random() < 0.6:
        pointer, value = "/cluster/network/bandwidth_Bps", network["bandwidth_Bps"]
    elif layers and layers[0]["backward_s"]:
        pointer, value = "/workload/layers/0/backward_s", layers[0]["backward_s"]
    else:
        return []
    return ["--over", f"{pointer}={value!r},{2 * value!r}"] if isinstance(value, (int, float)) else []


def make(stepsim, seed, index, pairs):
    """The case of an index. `stepsim` calls the reference program in a folder of its own."""
    rng = random.Random(f"{seed}/{index}/commands")
    _, document, spoilt = random_test.made(seed, index, pairs, 0.15)
    tried = [document]
    for _ in range(6):
        answer = stepsim("run", stepsim.write(document), "--json", output="r.json")
        smaller = None if answer.code != net.BAD_INPUT or spoilt else random_test.without_refused(document, answer.err)
        if smaller is None:
            break
        document = smaller
        tried.append(document)
    files = {"s.json": schema.text_of(document)}
    commands = [command("run", "run", "s.json", "--json", *LIMIT)]
    if len(tried) > 1:
        files["refused.json"] = schema.text_of(tried[0])
        commands.append(command("run refused", "run", "refused.json", "--json", *LIMIT))
    if answer.code == 0:
        more(rng, stepsim, document, json.loads(answer.written), files, commands)
    commands.append(collective(rng))
    files["problem.json"] = json.dumps(problem(rng))
    planners = PLANNERS + (",asc_wfbp" if "table" not in files["problem.json"] else "")
    commands.append(command("plan", "plan", "problem.json", "--planners", planners, "--json"))
    if index % 4 == 0:
        files["flows.json"] = json.dumps(flows(rng))
        commands.append(command("flows", "flows", "flows.json", "--json"))
    return {"files": files, "commands": commands}


def more(rng, stepsim, document, result, files, commands):
    """The commands that take a scenario that `run` accepts."""
    seconds = result["summary"]["iteration_time_s"]
    pointer, values = net.axis_of(document)
    over = ["--over", f"{pointer}={','.join(map(str, values))}"]
    lines = [{"scenario": document}, {"scenario": document, "set": {pointer: values[0]}}]
    program = stepsim("program", "s.json", output="p.json")
    if program.written is not None:
        files["p.json"] = program.written
        commands.append(command("run of a program", "run", "p.json", "--json", *LIMIT))
        if rng.random() < 0.3:
            commands.append(command("explain of a program", "explain", "p.json", "--json", *LIMIT))
    measured = ["--measured", f"{1.3 * seconds!r}s"] if rng.random() < 0.3 else []
    commands += [
        command("run --method", "run", "s.json", "--json", "--method",
                rng.choice(["closed_form", "max_plus", "events"]), *LIMIT),
        command("run --lines", "run", "--lines", "-", *LIMIT, given="".join(json.dumps(line) + "\n" for line in lines)),
        command("sweep", "sweep", "s.json", *over, *second_axis(rng, document), "--jobs", "2", "--format", "jsonl",
                *LIMIT), command("compare", "compare", "s.json", *over, "--json", *LIMIT),
        command("explain", "explain", "s.json", "--json", *measured, *LIMIT),
        command("program", "program", "s.json", *LIMIT),
        command("solve", "solve", "s.json", "--for", "/cluster/network/bandwidth_Bps", "--between", "100Mbps,100Gbps",
                "--target", f"iteration_time_s={1.2 * seconds!r}", "--points", "9", "--json", *LIMIT),
        command("tune", "tune", "s.json", "--knob", rng.choice(KNOBS), "--json", *LIMIT),
        command("converge", "converge", "s.json", "--problem", "logistic", "--iterations", "20", "--json", *LIMIT),
    ]
    if document["training"]["algorithm"] == "sync_sgd":
        shard = [] if "sharding" in document["training"] else ["--set", "/training/sharding=full_shard"]
        commands.append(command("plan-units", "plan-training", "s.json", "--only", "units", *shard, "--json", *LIMIT))
    if rng.random() < 0.25:
        commands.append(command("compare --algorithms", "compare", "s.json", "--algorithms", "all", "--json", *LIMIT))
    if rng.random() < 0.25:
        commands.append(command("python", PYTHON))
