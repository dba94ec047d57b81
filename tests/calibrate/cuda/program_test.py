#!/usr/bin/env python3
"""What `stepsim-calibrate cuda` and `fit` of GPU samples do for a user, with or without a GPU.

    program_test.py BUILD_DIR SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
SAME = {"where": "same device"}


def run(*words, cwd):
    done = subprocess.run([str(w) for w in words], cwd=cwd, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def answer(program, *words, cwd):
    code, out, err = run(BUILD / program, *words, cwd=cwd)
    assert code == 0, err
    return out


def summary(scenario, cwd):
    (cwd / "x.scenario.json").write_text(json.dumps(scenario))
    return json.loads(answer("stepsim", "run", "x.scenario.json", "--json", cwd=cwd))["summary"]


def quickstart():
    scenario = json.loads((SOURCE / "examples/quickstart.scenario.json").read_text())
    scenario["workload"]["trace"] = str(SOURCE / "traces/resnet50.ddp.2xa100.json")
    return scenario


def samples(kernels=False):
    lines = [{"schema_version": 1, "kind": "gpu_samples", **SAME, "program": "gpu_bench", "ranks": 8,
              "devices": [{"name": "NVIDIA Test"}], "peer_access": [[True]]}]
    for op, algorithm, ranks in (("pingpong", "", 2), ("allreduce", "ring", 8)):
        for size in (4, 4096, 1 << 20, 1 << 24, 1 << 28):
            lines.append({"record": "collective", **SAME, "op": op, "algorithm": algorithm,
                          "variant": "copy_engine", "launch": "plain", "ranks": ranks, "bytes": size,
                          "pass": 0, "repeats": 1, "time_s": [1e-5 + 1e-12 * size]})
    for n in (1 << 16, 1 << 20, 1 << 24) if kernels else ():
        for k in (n // 1000, n // 100):
            lines.append({"record": "kernel", **SAME, "kernel": "radix_select", "distribution": "gaussian",
                          "n": n, "k": k, "achieved_k": k, "mass_kept": 1, "pass": 0, "repeats": 1,
                          "time_s": [2e-5 + 3e-12 * n] * 3})
        for kernel, per_element in (("bucket_flatten", 8e-12), ("bucket_unflatten", 8e-12), ("copy_to_host_pinned", 4e-10)):
            lines.append({"record": "kernel", **SAME, "kernel": kernel, "distribution": "any", "n": n, "k": 0, "achieved_k": 0,
                          "mass_kept": None, "pass": 0, "repeats": 1, "time_s": [1e-6 + per_element * n] * 3})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_fit(folder):
    (folder / "gpu.jsonl").write_text(samples())
    out = answer("stepsim-calibrate", "fit", "gpu.jsonl", "-o", "gpu.calibration.json", cwd=folder)
    assert out and all("same device" in line for line in out.splitlines()), out
    tree = json.loads((folder / "gpu.calibration.json").read_text())
    assert tree["links"][0]["class"] == "same-device" and "network" not in tree, tree
    answer("stepsim", "check", "gpu.calibration.json", cwd=folder)

    # Times of one device are no network.
    scenario = quickstart()
    scenario["cluster"]["network"] = {"calibration": "gpu.calibration.json"}
    (folder / "x.scenario.json").write_text(json.dumps(scenario))
    code, _, err = run(BUILD / "stepsim", "run", "x.scenario.json", cwd=folder)
    assert code == 3 and "same-device" in err and "not a network" in err, (code, err)

    # Beside a link that is given, what the kernels cost is used, and nothing else.
    (folder / "costs.jsonl").write_text(samples(kernels=True))
    answer("stepsim-calibrate", "fit", "costs.jsonl", "-o", "gpu.calibration.json", cwd=folder)
    link = {"latency_s": 1e-5, "bandwidth_Bps": 1e9}
    scenario["cluster"] = {"nodes": 8, "network": {"calibration": "gpu.calibration.json", **link}}
    scenario["communication"] = {"collective": "ring", "schedule": "single",
                                 "compression": {"method": "gtopk_tree", "density": 0.001}}
    times = {}
    for name in ("with", "without"):
        times[name] = summary(scenario, folder)
        scenario["cluster"]["network"] = dict(link)
    elements = 25557032  # of ResNet-50
    assert abs(times["with"]["select_s"] - (2e-5 + 3e-12 * elements)) < 2e-6, times["with"]
    assert times["without"]["select_s"] in (0, None), times["without"]
    assert times["with"]["wire_s"] == times["without"]["wire_s"]


def test_copies(folder):
    """A scenario takes the speeds of copies that were measured where it says so, and nowhere else."""
    (folder / "costs.jsonl").write_text(samples(kernels=True))
    answer("stepsim-calibrate", "fit", "costs.jsonl", "-o", "gpu.calibration.json", cwd=folder)
    out = answer("stepsim-calibrate", "show", "gpu.calibration.json", cwd=folder)
    assert "copies into buckets   1.000 TB/s, " in out and len(out.splitlines()) <= 12, out
    scenario = quickstart()
    scenario["communication"]["schedule"] = "single"
    link = {"latency_s": 1e-5, "bandwidth_Bps": 1e9}
    for part, key, number in (("communication", "copy_bandwidth_Bps", 1e12), ("training", "host_copy_Bps", 1e10)):
        times = []
        for network, value in ((True, None), (True, number), (True, "calibrated"), (False, "calibrated")):
            scenario["cluster"] = {"nodes": 8, "network": {**link, **({"calibration": "gpu.calibration.json"} if network else {})}}
            scenario.setdefault(part, {}).pop(key, None)
            if value is not None:
                scenario[part][key] = value
            (folder / "x.scenario.json").write_text(json.dumps(scenario))
            code, out, err = run(BUILD / "stepsim", "run", "x.scenario.json", "--json", cwd=folder)
            if not network:
                assert code == 3 and f"/{part}/{key}: calibrated: /cluster/network names no calibration" in err, (code, err)
                continue
            assert code == 0, err
            times.append(json.loads(out)["summary"]["iteration_time_s"])
            kept = json.loads(out)["scenario"][part].get(key)
            assert value is None or abs(kept / number - 1) < 1e-6, kept
        scenario[part].pop(key)
        assert times[0] < times[1] and abs(times[2] / times[1] - 1) < 1e-6, (key, times)


def test_overlap(folder):
    """A file per GPU, which a scenario takes as it takes the number in it."""
    beside = [{"record": "overlap", **SAME, "device": gpu, "exchange": "allreduce ring copy_engine graph P=8 n=4", "side": 64,
               "bytes": 16, "product_s": [1e-3, 1e-3, 9e-3], "product_beside_s": [slowed, 1e-3, slowed],
               "exchange_s": [2e-3], "exchange_beside_s": [2e-3]} for gpu, slowed in ((0, 1.5e-3), (1, 2e-3))]
    for count in (2, 0):
        (folder / "gpu.jsonl").write_text(samples() + "".join(json.dumps(line) + "\n" for line in beside[:count]))
        code, out, err = run(BUILD / "stepsim-calibrate", "fit", "gpu.jsonl", "--overlap", "test", "-o", "c.json", cwd=folder)
        assert out.count(" x its time next to allreduce ring") == count, out
        assert code == (0 if count else 4) and (count or "no times of a product" in err), (code, err)
    assert sorted(file.name for file in folder.glob("*.overlap.json")) == ["test.gpu0.overlap.json", "test.gpu1.overlap.json"]
    out = answer("stepsim-calibrate", "show", "test.gpu0.overlap.json", cwd=folder)
    assert "computing  1.500 times as long" in out and "exchanges  1.000 times" in out, out
    scenario = quickstart()
    scenario["cluster"] = {"nodes": 8, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e11}}  # computing decides
    times = []
    for overlap in ({"compute": 1}, {"compute": 2}, {"file": "test.gpu1.overlap.json"}):
        scenario.setdefault("training", {})["overlap"] = overlap
        (folder / "x.scenario.json").write_text(json.dumps(scenario))
        code, out, err = run(BUILD / "stepsim", "run", "x.scenario.json", "--json", cwd=folder)
        assert code == 0, err
        times.append(json.loads(out)["summary"]["iteration_time_s"])
    assert times[0] < times[1] == times[2], times
    assert "NVIDIA Test, GPU 1, product of 64 x 64 fp32 matrices next to allreduce ring" in out, out


def test_without_gpu(folder):
    code, _, err = run(BUILD / "stepsim-calibrate", "cuda", "--only", "kernels", "--max-seconds", "5",
                       "-o", "c.calibration.json", cwd=folder)
    if code == 0:
        print("there is a GPU")
        return
    assert code == 77, (code, err)
    assert err.startswith(("error: built without CUDA", "no CUDA device: ")), err
    assert not (folder / "c.calibration.json").exists()
    assert len(err.splitlines()) == 1, err


def test_block(folder):
    """Sizes that are no block are refused before a GPU is looked for."""
    for program in (("stepsim-calibrate", "cuda"), ("gpu_bench",)):
        for size in ("6B", "0B", "3", "2GB"):
            code, _, err = run(BUILD / program[0], *program[1:], "--block", size, "-o", "c.json", cwd=folder)
            assert code == 2 and "--block" in err, (program, size, code, err)
        for size in ("64KiB", "optimal"):
            code, _, err = run(BUILD / program[0], *program[1:], "--block", size, "--only", "kernels",
                               "--max-seconds", "1", "-o", "c.calibration.json", cwd=folder)
            assert code in (0, 77), (program, size, code, err)


def main():
    tests = [test_fit, test_copies, test_overlap, test_without_gpu]
    if (BUILD / "gpu_bench").exists():  # built with CUDA
        tests.append(test_block)
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
        print(test.__name__, "ok")


main()
