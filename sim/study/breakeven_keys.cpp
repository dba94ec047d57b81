// The second example leaves out everything that has a default.
#include "study/breakeven_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kBreakEvenExamples{
    R"({"schema_version": 1, "kind": "compression_breakeven", "name": "top-k on 16 workers", "ranks": 16, "latency_s": 5e-5, "gradient_bytes": 100000000, "forward_s": 0, "backward_s": 0.1, "overlap_slowdown": 1, "bucket_bytes": 25000000, "compression": {"method": "topk", "density": 0.01}, "encode_decode_s": 0.05, "bandwidth_Bps": [5e8, 1.25e9, 3.125e9]})",
    R"({"ranks": 8, "latency_s": 1e-5, "gradient_bytes": 110000000, "forward_s": 0.02, "backward_s": 0.05, "compression": "fp16"})"};

} // namespace

io::FileKind breakeven_file() { return {"compression_breakeven", &kBreakEven, kBreakEvenExamples}; }

} // namespace stepsim::study::keys
