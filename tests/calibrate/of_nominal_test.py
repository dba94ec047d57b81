#!/usr/bin/python3
"""Shares of nominal rates: `fit-library` writes them, and a node type that names the file gets the rates that
were fitted. Targets for what is left out of the fit are exit code 4.

    of_nominal_test.py BUILD
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTOR = {"ring_Bps": 0.9, "nic_Bps": 0.8}  # of the machine that is measured to the preset


def run(folder, program, *words, code=0):
    done = subprocess.run([BUILD / program, *map(str, words)], cwd=folder, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"FAILED: {program} {words} exits {done.returncode}: {done.stderr}")
    return done.stdout if code == 0 else done.stdout + done.stderr


def value(number):
    return number["value"] if isinstance(number, dict) else number


def times(folder, preset):
    """Times of the library model, in its records' order."""
    words = ["collective", "--op", "allreduce", "--algorithm", "library", "--preset", preset, "--shape", "1x8,2x8,8x8",
             "--bytes", "1MiB:1GiB:x4", "--json", "--quiet"]
    rows = map(json.loads, run(folder, "stepsim", *words).splitlines())
    return [(row["nodes"], row["bytes"], row["seconds"]) for row in rows]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        preset = json.loads((ROOT / "topologies/nodes/dgx_h100.json").read_text())
        preset["name"] = "box"
        machine = {**preset, **{key: value(preset[key]) * factor for key, factor in FACTOR.items()}}
        (folder / "machine.json").write_text(json.dumps(machine))
        rows = ["system,op,nodes,gpus_per_node,bytes,time_us"]
        rows += [f"box,allreduce,{nodes},8,{size},{1e6 * seconds}" for nodes, size, seconds in times(folder, "machine.json")]
        (folder / "times.csv").write_text("\n".join(rows) + "\n")
        fit = ["fit-library", "times.csv", "--system", "box", "--preset", "dgx_h100", "-o", "box.library.json"]
        run(folder, "stepsim-calibrate", *fit, "--max-median", "50%", "--max-p90", "90%")
        said = run(folder, "stepsim-calibrate", *fit, "--max-median", "0%", "--max-p90", "90%", code=4)
        if said.count("missed") != 1 or "--max-median: median error on what was left out " not in said:
            sys.exit(f"FAILED: the targets: {said}")
        shares = json.loads((folder / "box.library.json").read_text())["of_nominal"]
        for share, rate, nominal in (("link", "ring_Bps", "link_nominal_Bps"), ("nic", "nic_Bps", "nic_nominal_Bps")):
            wanted = machine[rate] / value(preset[nominal])
            found = shares[share]
            if not (abs(found["value"] / wanted - 1) < 0.05 and found["low"] <= found["value"] <= found["high"] <= 1):
                sys.exit(f"FAILED: {share}: {found}, the machine has {wanted}")

        named = {key: member for key, member in preset.items() if key not in FACTOR}
        (folder / "below").mkdir()  # the path is relative to the preset, not to the working folder
        (folder / "below/named.json").write_text(json.dumps({**named, "of_nominal": "../box.library.json"}))
        by_hand = {key: {**shares[share], "value": shares[share]["value"] * value(preset[nominal]),
                         "low": shares[share]["low"] * value(preset[nominal]),
                         "high": shares[share]["high"] * value(preset[nominal])}
                   for key, share, nominal in (("ring_Bps", "link", "link_nominal_Bps"), ("nic_Bps", "nic", "nic_nominal_Bps"))}
        (folder / "hand.json").write_text(json.dumps({**named, **by_hand}))
        if times(folder, "below/named.json") != times(folder, "hand.json"):
            sys.exit("FAILED: the named shares and the rates by hand give two times")
        shown = [run(folder, "stepsim", "topologies", "show", f"./{file}") for file in ("below/named.json", "hand.json")]
        if shown[0] != shown[1] or "share of the nominal rate: inside" not in shown[0]:
            sys.exit(f"FAILED: topologies show: {shown}")

        (folder / "none.json").write_text(json.dumps({**json.loads((folder / "box.library.json").read_text()), "of_nominal": None}))
        (folder / "wrong.json").write_text(json.dumps({**named, "of_nominal": "none.json"}))
        said = run(folder, "stepsim", "check", "./wrong.json", code=3)
        if "/of_nominal: ./none.json has no of_nominal" not in said:
            sys.exit(f"FAILED: {said}")
    print("fitted shares give the rates of a node type")


if __name__ == "__main__":
    main()
