"""Random scenarios for a combination of words: keys that have a meaning for it, with values inside and at
the bounds of their ranges."""
import schema
from documents import put
from rules import LATE
from words import (CODECS, COMPRESSION_KEYS, COSTS, LEAVES, NETWORKS, SPARSE_KEYS, TRANSPORTS, applies, program, rounds)

CALIBRATIONS = ["10g-tcp", "25g-tcp", "100g-roce", "icdcs19", "100g-ib"]
# Open numbers whose size is the work of a run: what an everyday value of each is.
EVERYDAY = {"iterations": (1, 5), "discard_iterations": (0, 2), "warmup_iterations": (0, 5),
            "max_width": (1, 6), "pipeline_width": (1, 6), "servers": (1, 4), "concurrency": (1, 4),
            "window_packets": (1, 64), "initial_window": (1, 20), "dup_acks": (1, 4),
            "partition_bytes": (1000, 10**6), "dear_layers": (1, 4), "batch_size": (1, 64),
            "index_bytes": (1, 8), "value_bytes": (1, 8), "rank": (1, 8), "bits": (1, 16),
            "block": (1, 512), "bucket": (1, 1024), "element_bytes": (1, 8), "seed": (0, 2**53),
            "iterations_per_epoch": (1, 3), "dense_warmup_iterations": (0, 4), "sync_s": (1e-6, 1e-3), "wait_s": (1e-6, 0.1),
            "compute_slowdown": (1, 3), "ratio": (1, 32), "selected_ratio": (0.5, 2),
            "width_tolerance": (0, 0.1), "contention": (0, 2), "simulated_s": (1e5, 1e9),
            "local_steps": (1, 8), "fragments": (1, 3), "overlap_steps": (0, 3), "staleness_bound": (0, 5),
            "outer_value_bytes": (0.5, 4), "outer_update_s": (0, 1e-2), "ranks": (1, 4),
            "block_bytes": (100, 10**6), "copy_bandwidth_Bps": (1e9, 1e12), "alpha": (0.1, 4)}
# Keys whose large values are much work; only drawn far out where many scenarios are run by hand.
WORK = {"iterations", "servers", "max_width", "pipeline_width", "warmup_iterations", "simulated_s",
        "discard_iterations", "partition_bytes", "mtu_wire_bytes", "header_bytes", "credit_bytes",
        "wire_overhead_bytes", "window_packets", "block_bytes", "dear_layers", "rto_min_s",
        "local_steps", "fragments", "overlap_steps", "ranks", "rto_initial_s", "element_bytes", "bits", "value_bytes", "index_bytes", "rank"}


class Maker:
    """Builds one scenario for a combination. `far` is the chance of a value at a bound of its range, `work`
    allows it for keys that make work; the key `wanted` is there where it applies."""

    def __init__(self, rng, d, far=0.15, work=False, wanted=None):
        self.rng, self.d, self.far, self.work, self.wanted = rng, d, far, work, wanted

    def value(self, pointer, fields=LEAVES):
        """A value of a leaf: mostly everyday, sometimes its default or at a bound."""
        key = pointer.rsplit("/", 1)[-1]
        roll = self.rng.random()
        if roll < self.far and (self.work or key not in WORK):
            return schema.value_of(fields[pointer], pointer, "bound", self.rng)
        if roll < self.far + 0.1 and key != "iterations":
            return schema.value_of(fields[pointer], pointer, "default", self.rng)
        if key in EVERYDAY:
            low, high = EVERYDAY[key]
            if isinstance(low, int) and isinstance(high, int):
                return self.rng.randint(low, high)
            return float(f"{self.rng.uniform(low, high):.4g}")
        return schema.value_of(fields[pointer], pointer, "inside", self.rng)

    def some(self, fields, prefix, odds=0.3):
        """Members for some of the keys below a pointer."""
        return {f: self.value(f"{prefix}/{f}") for f in fields
                if self.rng.random() < odds or self.wanted == f"{prefix}/{f}"}

    def scenario(self):
        d, rng = self.d, self.rng
        self.small = d["level"] == "packet"
        out = {"kind": "scenario"}
        out["cluster"] = self.cluster()
        out["workload"] = self.workload(out["cluster"])
        algorithm, _, mode = d["algorithm"].partition(" ")
        training = {"algorithm": algorithm, "iterations": rng.choice([1, 2, 3, 5, 10])}
        if algorithm == "diloco" and mode:
            training["inner"] = mode
        elif mode:
            training["mode"] = mode
        communication = {}
        for name in ("schedule", "collective"):
            if d[name] != "-":
                communication[name] = d[name]
        if d["compression"] != "-":
            communication["compression"] = self.compression()
        if d["schedule"] == "groups":
            communication["groups"] = self.groups(out["workload"]["layers"])
        variability = self.variability(out["cluster"])
        out.update(training=training, communication=communication)
        if variability:
            out["variability"] = variability
        if d["method"] != "auto":
            out["method"] = d["method"]
        if d["job"] != "none":
            out["job"] = self.job(out["workload"])
        optional = [p for p in LEAVES if "/-" not in p and applies(p, d)]
        for pointer in optional:
            chance = 0.06 if pointer.startswith("/cluster/network/packet") else 0.12
            if pointer == self.wanted or rng.random() < chance:
                put(out, pointer, self.value(pointer))
        if "nvlink_domain_nodes" in out["cluster"]:
            nodes = out["cluster"]["nodes"]
            out["cluster"]["nvlink_domain_nodes"] = rng.choice(
                [k for k in range(1, min(nodes, 64) + 1) if nodes % k == 0])
            out["cluster"].setdefault("intra_network", {"latency_s": 1e-6, "bandwidth_Bps": 1e11})
        if {"max_width", "width_tolerance"} & set(training) and rng.random() < 0.9:
            training["pipeline_width"] = "optimal"
        if "input_pipelined" in training:  # says how an input is read that takes time
            training.setdefault("input_s", rng.choice([1e-4, 1e-3, 0.1]))
        if mode == "ssp":
            training.setdefault("staleness_bound", rng.choice([None, 0, 1, 3]))
        if rounds(d):
            self.fit_rounds(training, out)
        if d["conditions"] == "typical":
            self.put_under_conditions(out)
        if "accumulation_exchange" in training:
            training.setdefault("micro_batches", rng.choice([2, 3, 5]))
        if program(d) and d["compression"] == "-" and rng.random() < 0.15:
            training["sharding"] = self.sharding()
            if "gather_by" in training["sharding"] and "cost" in out["cluster"].get("network", {}):
                out["cluster"]["network"]["broadcast_cost"] = {"startup_s": 1e-4, "per_byte_s": 1e-9}
            if "gather_by" not in training["sharding"] and rng.random() < 0.9:
                communication.pop("ring_startup", None)
        if rng.random() < 0.8:  # values at the bounds are meant
            out["allow_unusual"] = True
        if rng.random() < 0.03 and algorithm == "parameter_server":
            out["training"]["convergence"] = {"epochs_lossless": 10, "iterations_per_epoch": 100,
                                              "x1": 0.01, "x2": 0.3, "beta": 2}
        return out

    def job(self, workload):
        """How much to train, a price at times, and machines that fail."""
        d, rng = self.d, self.rng
        job = {}
        if d["job"] != "failures" and isinstance(workload, dict):
            workload.setdefault("batch_size", 8)
            job[d["job"]] = rng.choice([1, 1000, 123456789, 2**53, "1.5M", "300B"])
            if d["job"] == "tokens" and not workload.get("sequence_length") or rng.random() < 0.2 * ("tokens" in job):
                job["tokens_per_sample"] = rng.choice([1, 128, 4097])
            if rng.random() < 0.7:
                job["price_per_gpu_hour"] = rng.choice([0, 2.5, 1e-3])
        if d["job"] == "failures" or rng.random() < 0.4:
            job.update(node_mtbf_s=rng.choice(["6300h", 1e7, 1e12, 1e5]), checkpoint_s=rng.choice([1e-9, 1, "2min", 1e4]),
                       restart_s=rng.choice([0, 30, "1h"]))
        return job

    def put_under_conditions(self, out):
        """Typical conditions, with factors of one's own at times, and what the factors depend on."""
        rng = self.rng
        out["conditions"] = rng.choice(["typical", {"kind": "typical"}, {"kind": "typical", "file": "typical", "factors": {
            "e_pcie": 0.5, "c_tcp": {"value": 2e9, "low": 1e9, "high": 3e9}, "l_0": {"value": 0.01, "tau": 0.01}}}])
        out["cluster"]["network"]["transport"] = rng.choice(["rdma", "tcp", "tcp_cloud"])
        if out["cluster"].get("gpus_per_node", 1) > 1 and "preset" not in out["cluster"]:
            out["cluster"].setdefault("intra_network", {"latency_s": 1e-6, "bandwidth_Bps": 1e11})
        if "bandwidth_Bps" in (out["training"].get("outer_network") or {}):
            out["training"]["outer_network"]["transport"] = rng.choice(["rdma", "tcp", "tcp_cloud"])
        if out["cluster"].get("intra_network"):
            out["cluster"]["intra_network"]["bus"] = rng.choice(["pcie", "nvlink", "xgmi"])
        measured = out["workload"].get("measured") if isinstance(out["workload"], dict) else None
        if measured and rng.random() < 0.5:
            measured["gpus"] = rng.choice([1, 2, 8])

    def fit_rounds(self, training, out):
        """Counts that fit each other, and a codec at times."""
        rng = self.rng
        if "fragment_pattern" in training:
            training.setdefault("fragments", 2)
        if rng.random() < 0.9:  # others are refused
            jobs = out["workload"] if isinstance(out["workload"], list) else [out["workload"]]
            layers = min(len(job.get("layers", [0, 0])) for job in jobs)
            steps = training.setdefault("local_steps", rng.randint(1, 6))
            for key, most in (("fragments", min(steps, layers)), ("overlap_steps", steps - 1)):
                if training.get(key, 0) > most:
                    training[key] = most
            if training.get("fragments", 1) < 2:
                training.pop("fragment_pattern", None)
        if training["algorithm"] == "diloco" and rng.random() < 0.2:
            training["outer_compression"] = self.codec()
        if "outer_network" in training:
            training.pop("exchange_s", None)
            nodes = out["cluster"]["nodes"]
            ranks = nodes * out["cluster"].get("gpus_per_node", 1)
            if training["outer_network"].get("ranks", 0) > ranks:
                training["outer_network"]["ranks"] = ranks

    def codec(self):
        word = self.rng.choice(["none", "truncate16", "quantize8", "int8", "fp4", "custom_codec"])
        if word == "custom_codec":
            return {"method": word, "ratio": self.rng.choice([1, 2.5, 16])}
        return self.rng.choice([word, {"method": word}] + [
            {"method": word, "encode_Bps": 1e10, "decode_Bps": 2e10}] * (word != "none"))

    def sharding(self):
        """A strategy alone, or with some keys of its own."""
        rng = self.rng
        strategy = rng.choice(["zero1", "zero2", "full_shard", "shard_grad_op", "hybrid_shard"])
        if rng.random() < 0.3:
            return strategy
        keys = ["parameter_bytes", "reduce_bytes", "optimizer_bytes"]
        owners = strategy == "zero1" and rng.random() < 0.4
        if strategy.startswith("zero"):
            keys += [] if owners else ["gather"]
        else:
            keys += ["preset", "ahead_forward", "reduces_in_flight", "communicators", "forward_prefetch"]
            if strategy != "shard_grad_op":
                keys += ["backward_prefetch", "keep_last"]
        out = {"strategy": strategy, **self.some(keys, "/training/sharding", 0.25)}
        if owners:
            out["gather_by"] = rng.choice(["broadcast_tensors", "broadcast_view"])
        elif rng.random() < 0.2:
            out["parameter_compression"] = self.codec()
        if strategy == "hybrid_shard" and rng.random() < 0.5:
            out["shard_ranks"] = rng.choice([2, 3, 4, 6, 8])
        if not strategy.startswith("zero") and rng.random() < 0.5:
            out["wrapping"] = {"policy": rng.choice(["layer", "block", "all", "optimal"])}
        return out

    def cluster(self):
        d, rng = self.d, self.rng
        nodes = rng.choice([1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 16])
        gpus = rng.choice([2, 2, 3, 4, 8]) if d["gpus"] == "several" else 1
        if self.small:
            nodes, gpus = min(nodes, 4), min(gpus, 2)
        if self.work and rng.random() < 0.02 and d["level"] == "alpha_beta":
            nodes = rng.choice([1048576, 1048575, 1000, 65536])
        if d["compression"] == "hierarchical_topk":
            nodes = max(nodes, 2)
        if d["collective"] in ("nvls", "nvls_tree"):
            nodes, gpus = 1 if d["collective"] == "nvls" else max(nodes, 2), max(gpus, 3)
        elif d["collective"] == "collnet":
            nodes = max(nodes, 2)
        cluster = {"nodes": nodes}
        if gpus > 1:
            cluster["gpus_per_node"] = gpus
        if d["collective"] == "library" or (d["level"] == "alpha_beta" and rng.random() < 0.05):
            cluster["preset"] = rng.choice(["dgx_h100", "dgx_a100", "p4d", "mi300x", "dgx_b200"])
            cluster["gpus_per_node"] = gpus
        if d["collective"] in ("nvls", "nvls_tree"):
            cluster["nvls_Bps"] = float(f"{10 ** rng.uniform(10, 11.5):.3g}")
        if d["collective"] == "ring_rails" and rng.random() < 0.5:
            cluster["nics_per_node"] = rng.choice([k for k in range(1, gpus + 1) if gpus % k == 0])
        network = {"model": d["level"]} if d["level"] in NETWORKS else {}
        line = {"latency_s": float(f"{10 ** rng.uniform(-6, -4):.2g}"),
                "bandwidth_Bps": float(f"{10 ** rng.uniform(8, 11):.3g}")}
        if d["level"] == "alpha_beta":
            network.update({k: self.value(f"/cluster/network/{k}") if rng.random() < 0.2 else v
                            for k, v in line.items()})
        elif d["level"] == "cost":
            table = [[1000.0, 1e-4], [20000.0, 2e-4], [1e6, float(f"{rng.uniform(3e-4, 3e-3):.3g}")]]
            linear = {"startup_s": line["latency_s"], "per_byte_s": float(f"{1 / line['bandwidth_Bps']:.3g}")}
            needs_linear = d["schedule"] in ("asc_wfbp", "priority")
            network["cost"] = linear if needs_linear else rng.choice([linear, {"table": table}])
        elif d["level"] == "calibration":
            network["calibration"] = rng.choice(CALIBRATIONS)
            if d["collective"] == "calibrated":
                network["calibration"] = "h100x8"
                cluster = {"nodes": 1, "gpus_per_node": 8}
            elif rng.random() < 0.3:
                network.update(line)
        elif rng.random() < 0.3:
            network.update(line)
        else:
            cluster["topology"] = self.topology(nodes, gpus, line)
        if d["level"] == "packet":
            network["packet"] = self.packet()
        machines = cluster.get("topology", {}).get("preset") in ("gpu_node", "rail_optimised")
        levels = ("hierarchical", "ring_rails", "two_level", "nvls", "collnet")
        hierarchical = d["collective"].startswith(levels) or d["compression"] == "hierarchical_topk"
        if cluster.get("gpus_per_node", 1) > 1 and (hierarchical or not machines):
            cluster["intra_network"] = {"latency_s": 1e-6, "bandwidth_Bps": float(f"{10 ** rng.uniform(10, 11.5):.3g}")}
        cluster["network"] = network
        if (gpus > 1 and d["level"] == "alpha_beta" and d["collective"] in ("-", "ring", "auto", "two_level", "library")
                and rng.random() < 0.15):
            del cluster["gpus_per_node"]
            cluster["ranks_per_node"] = [rng.randint(1, gpus) for _ in range(nodes)]
        return cluster

    def topology(self, nodes, gpus, line):
        """A preset with room for all ranks and for a few servers."""
        rng = self.rng
        hosts = nodes * gpus + rng.choice([0, 1, 4])
        many = max(2, hosts)
        if gpus > 1 and rng.random() < 0.6:
            preset = rng.choice(["gpu_node", "rail_optimised"])
            machine = {"gpus": gpus} if preset == "gpu_node" else {"gpus_per_node": gpus, "spines": 1}
            return {"preset": preset, "nodes": nodes + rng.choice([0, 1]), **machine, **line}
        preset = rng.choice(["star", "leaf_spine", "ring", "torus", "fat_tree", "dragonfly"])
        shape = {"star": {"hosts": hosts}, "ring": {"hosts": max(3, hosts)},
                 "leaf_spine": {"leaves": 2, "hosts_per_leaf": (many + 1) // 2, "spines": rng.choice([1, 2])},
                 "torus": {"width": 3, "height": (many + 2) // 3 + 1},
                 "fat_tree": {"ports": next(k for k in range(2, 40, 2) if k ** 3 / 4 >= many)},
                 "dragonfly": {"groups": 2, "routers_per_group": 2, "hosts_per_router": (many + 3) // 4}}
        return {"preset": preset, **shape[preset], **line}

    def packet(self):
        rng = self.rng
        base = "/cluster/network/packet/transport"
        keys = {"window": ["window_packets"], "raw": [], "pfabric": [],
                "reno": ["initial_window", "dup_acks", "rto_min_s", "rto_initial_s", "sack",
                         "restart_after_idle"]}
        keys["dctcp"] = keys["reno"] + ["g", "alpha0", "retransmissions_ect"]
        keys["dlcp"] = ["loss_bound_push", "loss_bound_pull", "early_stop", "priority", "priority_map",
                        "selective_drop", "front_fraction", "large_fraction", "protect_large",
                        "rate_control", "feedback_packets", "rate_floor", "loss_fill", "rescale",
                        "control_lossy"]
        kind = rng.choice([k for k in TRANSPORTS if f"{base}/{'/'.join(keys[k])}" and any(
            self.wanted == f"{base}/{key}" for key in keys[k])] or TRANSPORTS)
        packet = {"transport": {"kind": kind, **self.some(keys[kind], base, 0.15)}}
        if kind == "dlcp" and (rng.random() < 0.1 or "per_layer" in str(self.wanted)):
            packet["transport"]["loss_bound_per_layer"] = {"0": 0.05, "1": rng.choice([0, 0.5])}
        faults = {}
        if rng.random() < 0.1 or "link_loss" in str(self.wanted):
            faults["link_loss"] = [{"link": rng.choice([0, 1]), "probability": rng.choice([0, 0.001, 0.05])}]
        if rng.random() < 0.1 or "drop_packets_once" in str(self.wanted):
            faults["drop_packets_once"] = [{"link": 0, "flow": rng.choice([0, 1]), "seq": 0,
                                            **({"nth": 1} if rng.random() < 0.5 else {})}]
        if faults:
            packet["faults"] = faults
        if kind == "window":
            packet["buffer"] = {"scope": "unlimited"}
        if rng.random() < 0.3:
            packet["mtu_wire_bytes"] = rng.choice([1500, 9000, 4000])
        if rng.random() < 0.1 or "background" in str(self.wanted):
            sizes = rng.choice([{"size_bytes": 10000}, {"cdf": [[1000, 0], [20000, 1]]}])
            packet["background"] = {"load": rng.choice([0, 0.05, 0.2]), **sizes,
                                    "transport": kind if kind == "pfabric" else "dctcp"}
        return packet

    def workload(self, cluster):
        d, rng = self.d, self.rng
        searched = d["collective"] in ("auto", "lp", "double_binary_tree") or (
            d["collective"].startswith("hierarchical"))
        if d["gpus"] == "several" and searched and d["workload"] in ("model", "trace"):
            return self.layers()  # one evaluation by messages per size of a bucket: too many sizes
        if d["workload"] == "jobs":
            nodes = max(2, cluster["nodes"])
            cluster["nodes"] = nodes
            cut = rng.randint(1, nodes - 1)
            kinds = ["layers"] if self.small else ["layers", "layers", "layers", "model", "trace"]
            return [{**self.one_workload(rng.choice(kinds)), "nodes": count} for count in (cut, nodes - cut)]
        return self.one_workload("layers" if self.small else d["workload"])

    def groups(self, layers):
        """Every layer with a gradient in one of a few lists, in any order."""
        with_gradient = [i for i, layer in enumerate(layers) if layer.get("gradient_bytes")]
        lists = [[] for _ in range(self.rng.randint(1, 4))]
        for place in self.rng.sample(with_gradient, len(with_gradient)):
            self.rng.choice(lists).append(place)
        return [each for each in lists if each]

    def one_workload(self, kind):
        rng = self.rng
        if kind == "layers":
            return self.layers()
        if kind == "trace":
            measured = "resnet50.ddp.2xa100.json"  # the one with the buckets that its DDP made
            return {"trace": str(schema.ROOT / "traces" / (measured if self.d["schedule"] == "trace" else
                                                           rng.choice([measured, "resnet50.1gpu.json",
                                                                       "googlenet.k80.json", "linear21.rtx2080ti.json"])))}
        if rng.random() < 0.3:
            return self.estimated()
        work = {"model": rng.choice(["resnet20", "alexnet", "lstm_ptb", "googlenet"]),
                "batch_size": rng.choice([1, 32])}
        if rng.random() < 0.5:
            work["device"] = {"flops_Ps": 1e13, "utilization": rng.choice([0.3, 1, 1e-3])}
        else:
            work["measured"] = rng.choice([{"compute_s": 0.1}, {"forward_s": 0.03, "backward_s": 0.07}])
        return work

    def estimated(self):
        """A model on a named GPU."""
        rng = self.rng
        work = {"model": rng.choice(["bert_base", "gpt2", "qwen2_5_0_5b"]), "gpu": rng.choice(["v100", "a100-80", "h100", "mi300x"]),
                "batch_size": rng.choice([1, 8]), "sequence_length": rng.choice([128, 512, 1024])}
        if rng.random() < 0.5:
            work["dtype"] = rng.choice(["bf16", "fp16", "fp8"])
        if rng.random() < 0.5:
            work["recompute"] = rng.choice(["none", "selective", "full"])
        if rng.random() < 0.3:
            work["value_bytes"] = rng.choice([2, 4])
        for key, words in (("loss", ["eager", "compiled", "chunked"]), ("kernels", ["fused", "composed", "tensorflow"])):
            if rng.random() < 0.3:
                work[key] = rng.choice(words)
        if rng.random() < 0.2:
            work["measured_step"] = {"step_s": 0.3, "batch_size": rng.choice([1, 8]), "sequence_length": 512}
        return work

    def layers(self):
        d, rng = self.d, self.rng
        count = rng.choice([1, 1, 2, 2, 3, 4, 6])
        layers = []
        shared = rng.choice(["float32"] * 6 + ["float16", "bfloat16", "float64"])
        named = shared != "float32" or rng.random() < 0.2
        for i in range(count):
            size = round(10 ** rng.uniform(2, 5 if self.small else 8))
            size = rng.choice([size // 8 * 8] * 8 + [0, 8])
            if not self.small and rng.random() < self.far / 5:
                size = rng.choice([2**53, 2**31, 2**32, 2**53 - 8])
            time = [float(f"{10 ** rng.uniform(-6, -2):.3g}") for _ in range(2)]
            if rng.random() < self.far / 3:
                time[rng.randint(0, 1)] = rng.choice([0, 5e-324, 1e-300, 1e-12, 0 if self.small else 100.0])
            layer = {"name": f"l{i}", "forward_s": time[0], "backward_s": time[1], "gradient_bytes": size}
            if named:
                layer["dtype"] = shared
            if d["compression"] == "powersgd" and size and rng.random() < 0.8:
                layer["shape"] = [size // (2 if "16" in shared else 8 if "64" in shared else 4)]
                if layer["shape"][0] % 2 == 0 and rng.random() < 0.7:
                    layer["shape"] = [layer["shape"][0] // 2, 2]
            layers.append(layer)
        return {"layers": layers}

    def compression(self):
        method, rng = self.d["compression"], self.rng
        base = "/communication/compression"
        if method == "none":
            return rng.choice(["none", {"method": "none"}])
        out = {"method": method}
        own = COMPRESSION_KEYS.get(method)
        if own is None:
            out["density"] = rng.choice([0.001, 0.01, 0.1, 1, self.value(f"{base}/density")])
            out.update(self.some(SPARSE_KEYS, base, 0.08))
            if self.d["algorithm"] in LATE and rng.random() < 0.9:
                out.pop("density_warmup", None)
                out.pop("select_stream", None)
            if "density_warmup" in out:
                out["iterations_per_epoch"] = rng.choice([1, 2, 100])
            if method == "ok_topk" and rng.random() < 0.5:
                out["dense_warmup_iterations"] = rng.choice([0, 1, 512])
            if self.d["algorithm"] in LATE and method == "ok_topk" and rng.random() < 0.9:
                out["dense_warmup_iterations"] = 0
        else:
            needed = [k for k in own if k in ("ratio", "rank", "block", "density")]
            if method == "custom":
                needed = ["bytes_per_worker"]
                formulas = ["4 * n", "n / P", "max(n, P) * 0.01", "ceil(log2(n + 1))", "1MB", 1000, 0]
            out.update({k: rng.choice(formulas) if method == "custom" else self.value(f"{base}/{k}") for k in needed})
            out.update(self.some([k for k in own if k not in needed], base, 0.3))
        wants_cost = str(self.wanted).startswith(f"{base}/costs/")
        if method not in CODECS | {"custom"} and (wants_cost or rng.random() < 0.3):
            costs = self.some(COSTS, f"{base}/costs", 0 if wants_cost else 0.3)
            if costs:
                out["costs"] = costs
        if len(out) == 1 and rng.random() < 0.5:
            return method
        return out

    def variability(self, cluster):
        kind, rng = self.d["variability"], self.rng
        if kind == "none":
            return None
        if kind == "stragglers":
            ranks = cluster["nodes"] * cluster.get("gpus_per_node", 1)
            chosen = sorted({rng.randrange(ranks) for _ in range(rng.choice([1, 1, 2]))})
            return {"stragglers": [{"worker": w, "factor": rng.choice([1, 1.0000000001, 0.5, 1.3, 2, 10])}
                                   for w in chosen]}
        cv = rng.choice([0, 0.01, 0.1, 0.5, 1, 2, 1e-9, 1e-6])
        if kind == "exchange":
            return {"exchange_cv": cv}
        cv = {"uniform": min(cv, 0.57), "exponential": rng.choice([0, 1, 1])}.get(kind, cv)
        out = {"distribution": kind}
        if kind == "empirical":
            out["factors"] = [rng.choice([0.5, 0.9, 1, 1.1, 3]) for _ in range(rng.choice([1, 2, 4]))]
            cv = rng.choice([0, 1, 0.1])
        out[rng.choice(["compute_cv", "compute_cv", "exchange_cv"])] = cv
        if rng.random() < 0.2:
            out["exchange_cv"] = cv
        if rng.random() < 0.15:
            out["stragglers"] = [{"worker": 0, "factor": rng.choice([1, 2])}]
        return out
