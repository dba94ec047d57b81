"""Small inputs of every kind that the program reads from outside: logs, tables and recordings for the
importers."""
import io
import json
import tarfile


def osu():
    return ("# OSU MPI-CUDA Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n" +
            "".join(f"{4 << i:<10} {3.5 + 1.7 ** i:.2f}\n" for i in range(14))).encode()


def nccl_tests():
    rows = "".join(f"  {1 << i}  {1 << i - 2}  float  sum  -1  {10 + 1.5 ** (i - 10):.2f}  1.0  1.5  0"
                   f"  {11 + 1.5 ** (i - 10):.2f}  1.0  1.5  0\n" for i in range(10, 24))
    return ("# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 4 minBytes 1024\n" +
            "".join(f"#  Rank  {r} Group  0 Pid 1{r} on host{r // 2} device  {r} [0000:0{r}:00] NVIDIA "
                    "H100\n" for r in range(4)) +
            "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
            + rows + "# Avg bus bandwidth    : 1.5\n").encode()


def nccl_json():
    results = [{"size": 1 << i, "count": 1 << i - 2, "type": "float", "redop": "sum", "root": "-1",
                "out_of_place": {"time": 10 + 1.5 ** (i - 10), "nwrong": 0},
                "in_place": {"time": 9 + 1.5 ** (i - 10), "nwrong": "0"}} for i in range(10, 20)]
    return json.dumps({"version": 2, "args": ["/opt/all_gather_perf", "-b", "8"],
                       "config": {"devices": [{"hostname": f"h{r}", "device_info": "GPU"} for r in range(4)]},
                       "results": results, "average_bus_bandwidth": {"bandwidth": 1.5}}).encode()


def nccl_inspector():
    """Two ranks, an all-reduce and an all-gather each."""
    return "".join(json.dumps({
        "header": {"id": "0x7f8c", "rank": rank, "n_ranks": 2, "nnodes": 1},
        "metadata": {"hostname": "h", "pid": 7},
        "coll_perf": {"coll": name, "coll_sn": number, "coll_msg_size_bytes": 4096 << number,
                      "coll_exec_time_us": 20 + 3 * number + rank, "coll_timing_source": "kernel_gpu",
                      "coll_algobw_gbs": 0.2, "coll_busbw_gbs": 0.2}}) + "\n"
        for rank in range(2) for name in ("AllReduce", "AllGather") for number in range(4)).encode()


def caffe_log():
    rows = [(0, 128, 30, 5), (1, 64, 30, 0), (2, 64, 0, 0), (3, 192, 12.5, 7)]
    return "".join(f"I0219 a.cpp:112] [{', '.join(map(str, row))}]\n" for row in rows * 2).encode()


def layer_table():
    return (b"name,params,fwd_ms,bwd_ms,dtype,tensors\n"
            b"conv,9408,1.5,3.0,float32,9408\n\"fully, connected\",2048000,0.5,1.25,float16,\n")


def topology_xml():
    gpus = "".join(f'<pci busid="0000:0{i}:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" '
                   f'link_width="16"><gpu dev="{i}" sm="80" rank="{i}" gdr="1">'
                   f'<nvlink target="0000:0{3 - i}:00.0" count="4" tclass="0x030200"/></gpu></pci>' for i in (1, 2))
    return ('<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" '
            f'familyid="6" modelid="85">{gpus}'
            '<pci busid="0000:05:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">'
            '<nic><net name="mlx5_0" dev="0" speed="100000" port="1" guid="0x1" maxconn="131072" '
            'gdr="1"/></nic></pci></cpu></system>').encode()


def kineto():
    """Three steps of two layers, one kernel for each forward and backward, and an all-reduce."""
    events = []
    correlation = 0

    def event(category, name, begin, duration, thread, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin,
                       "dur": duration, "args": arguments})

    def kernel(begin, thread, name="kernel"):
        nonlocal correlation
        correlation += 1
        event("cuda_runtime", "cudaLaunchKernel", begin + 1, 2, thread, correlation=correlation)
        event("kernel", f"{name}_{correlation}", begin + 5, 20, 7, correlation=correlation, stream=7, device=0)

    now, sequence = 1_000_000.5, 0
    for step in range(3):
        begin = now
        numbers = []
        for name in ("conv2d", "linear"):
            sequence += 1
            numbers.append(sequence)
            event("cpu_op", "aten::" + name, now, 30, 101, **{"Sequence number": sequence})
            kernel(now, 101)
            now += 40
        for number in reversed(numbers):
            event("cpu_op", "autograd::engine::evaluate_function: ConvBackward0", now, 30, 202,
                  **{"Sequence number": number, "Fwd thread id": 1})
            kernel(now, 202)
            now += 40
            event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", now, 10, 202)
            event("cpu_op", "torch::autograd::AccumulateGrad", now + 1, 5, 202,
                  **{"Input Dims": [[64, 3, 7, 7]], "Input type": ["float"]})
            now += 20
        event("cpu_op", "record_param_comms", now, 10, 202, **{
            "Collective name": "allreduce", "In msg nelems": 18816, "dtype": "Float", "Group size": 2,
            "Process Group Name": "0"})
        kernel(now, 202, "ncclDevKernel_AllReduce")
        now += 40
        event("user_annotation", "Optimizer.step#SGD.step", now, 10, 101)
        now += 20
        event("user_annotation", f"ProfilerStep#{step + 3}", begin, now - begin, 101)
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
                       "traceEvents": events}).encode()


def execution_trace():
    """Two iterations of two gradients, shapes as lists and as texts of lists."""
    nodes = []
    for step in range(2):
        for shape in ([64, 3, 7, 7], [64]):
            number = len(nodes) + 1
            nodes.append({"id": number, "name": "torch::autograd::AccumulateGrad", "ctrl_deps": 1,
                          "inputs": {"values": [], "shapes": [shape] if step else str([shape]),
                                     "types": ["Tensor(float)"] if step else "['Tensor(float)']"}})
        nodes.append({"id": len(nodes) + 1, "name": "Optimizer.step#SGD.step", "ctrl_deps": 1})
    return json.dumps({"schema": "1.1.0-chakra.0.0.4", "nodes": nodes}).encode()


def flight_record():
    """Two steps of two all-reduces, with a broadcast before them."""
    entries = [{"profiling_name": "nccl:broadcast", "input_sizes": [[99]], "input_dtypes": ["Float"],
                "time_created_ns": 0}]
    for step in range(2):
        for index, shapes in enumerate(([[10, 20]], [[30], [4, 2]])):
            entries.append({"profiling_name": "nccl:all_reduce", "input_sizes": shapes,
                            "input_dtypes": ["Float"] * len(shapes), "state": "completed", "is_p2p": False,
                            "time_created_ns": 1_000_000 * step + 10_000 * index})
    return json.dumps({"version": "2.4", "entries": entries}).encode()


def line_costs():
    """Costs of two operations, as a trace of one rank and one of all ranks tell them."""
    line = {"ranks": 4, "startup_s": 2.3e-5, "per_byte_s": 4.3e-11, "bus_bandwidth_Bps": 3.5e10,
            "startup_low_s": 0, "startup_high_s": 2.3e-5, "bus_bandwidth_low_Bps": 3.5e10}
    return json.dumps({"kind": "cost", "source": "by hand", "costs": [
        {"op": "allreduce", "grade": "bound", **line}, {"op": "allgather", "grade": "measured", **line}]}).encode()


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value % 128 + 128])
        value //= 128
    return out + bytes([value])


def field(number, value):
    """A field of a protocol buffer: a number, or bytes."""
    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    return varint(number * 8 + 2) + varint(len(value)) + value


# Nodes of two layers and their buckets: id, name, type, microseconds, collective, bytes.
CHAKRA = [(1, "conv_FWD", 4, 10, None, None), (2, "fc_FWD", 4, 20, None, None),
          (3, "fc_BWD_WG", 4, 40, None, None), (4, "reduce_fc", 7, 7, 0, 4000),
          (5, "conv_BWD_WG", 4, 30, None, None), (6, "reduce_conv", 7, 9, 0, 8000),
          (7, "buffers", 7, 2, 5, 212)]


def chakra():
    """Metadata and nodes as protocol buffers, each behind its length."""
    messages = [field(1, b"0.0.4")]
    for number, name, kind, duration, op, size in CHAKRA:
        message = (field(1, number) + field(2, name.encode()) + field(3, kind) + field(7, duration) +
                   field(10, field(1, b"is_cpu_op") + field(27, 0)))
        if number > 1:
            message += field(5, varint(number - 1))
        if op is not None:
            message += field(10, field(1, b"comm_type") + field(9, op))
            message += field(10, field(1, b"comm_size") + field(13, size))
        messages.append(message)
    return b"".join(varint(len(message)) + message for message in messages)


def chakra_json():
    nodes = [{"Id": number, "Name": name, "NodeType": kind, "runtime": duration, "is_cpu_op": False,
              "data_deps": [number - 1] if number > 1 else [],
              **({} if op is None else {"comm_type": op, "comm_size": size})}
             for number, name, kind, duration, op, size in CHAKRA]
    return json.dumps({"workload_graph": nodes, "ngpus": 8}).encode()


def astra_text():
    return (b"DATA\n3\nconv1\t-1\t13003\tNONE\t0\t12864\tNONE\t0\t32291\tALLREDUCE\t37632\t3229\n"
            b"mlp -1 100 ALLGATHER 64 1 NONE 0 5 REDUCESCATTER 4096 10\n"
            b"mlp -1 16416 NONE 0 27708 NONE 0 9220 ALLREDUCE 8192000 922")


def archive():
    """A layer table in a packed archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        info = tarfile.TarInfo("a/layers.csv")
        info.size = len(layer_table())
        packed.addfile(info, io.BytesIO(layer_table()))
    return out.getvalue()


def size_table():
    return b"name,elements,dtype\nconv.weight,9408,float32\n\"fc, bias\",1000,torch.bfloat16\n"


def ddp_log():
    return (b"{'rebuilt_bucket_sizes': '4000, 8196000', 'rebuilt_per_bucket_param_indices': '3 2, 1 0',"
            b" 'prev_iteration_grad_ready_order_indices': [3, 2, 1, 0]}\n")


def model_config():
    """A decoder with latent attention and experts, and keys that are not read."""
    return json.dumps({"architectures": ["A"], "model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 3,
                       "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": None,
                       "intermediate_size": 96, "vocab_size": 500, "max_position_embeddings": 2048,
                       "kv_lora_rank": 8, "q_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
                       "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
                       "moe_intermediate_size": 32, "first_k_dense_replace": 1, "mlp_only_layers": [2],
                       "decoder_sparse_step": 1, "topk_method": "noaux_tc", "attention_bias": True,
                       "rope_scaling": {"type": "yarn"}, "tie_word_embeddings": False,
                       "num_nextn_predict_layers": 1, "sliding_window": 128}).encode()


# Format -> file name, content and flags of `import FORMAT`.
IMPORTS = {
    "osu": ("osu.log", osu, ["--ranks", "8"]),
    "nccl-tests": ("nccl.log", nccl_tests, []),
    "nccl-tests, JSON": ("nccl.json", nccl_json, []),
    "nccl-inspector": ("inspector.log", nccl_inspector, []),
    "caffe-log": ("caffe.log", caffe_log, []),
    "layer-table": ("layers.csv", layer_table, []),
    "nccl-topology": ("machine.xml", topology_xml, []),
    "kineto": ("rank0.pt.trace.json", kineto, []),
    "pytorch-et": ("et.json", execution_trace, []),
    "chakra": ("chakra.et", chakra, []),
    "chakra, JSON": ("chakra.json", chakra_json, []),
    "chakra, samples": ("chakra.0.et", chakra, ["--ranks", "8"]),
    "astra-text": ("work.txt", astra_text, ["--drop-other-communication"]),
    "layer-table, archive": ("layers.tgz", archive, []),
    "hf-config": ("config.json", model_config, []),
}
