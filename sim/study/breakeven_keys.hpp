#pragma once
// The keys of a file of kind compression_breakeven (SPA 12). `compression` has the same keys as
// /communication/compression in a scenario.

#include "document/fields/schema.hpp"
#include "programs/step/compression_gain.hpp"
#include "scenario/keys/compression_keys.hpp"

namespace stepsim::study::keys {

inline constexpr double kMostBreakEvenRanks = 1 << 20;

inline constexpr std::array kBandwidth{
    number("bandwidth_Bps", "Bytes per second and direction.", io::above(0), "1.25e9")};

inline constexpr std::array kBreakEvenKeys{
    integer("ranks", "Number of workers.", io::between(2, kMostBreakEvenRanks), "16").required(),
    number("latency_s", "Time per message, s.", io::at_least(0), "5e-5").required(),
    integer("gradient_bytes", "Bytes of the dense gradient.", io::between(1, io::kMostExact),
            "100000000")
        .required(),
    number("forward_s", "Time of the forward pass of an iteration, s.", io::at_least(0), "0.05")
        .required(),
    number("backward_s",
           "Time of the backward pass of an iteration, behind which dense training hides its "
           "exchange, s.",
           io::at_least(0), "0.1")
        .required(),
    number("overlap_slowdown", "Factor on the backward pass while messages travel.",
           io::at_least(1), "1.05")
        .by_default(1),
    integer("bucket_bytes", "Bytes of a bucket of the dense exchange that is overlapped.",
            io::between(1, io::kMostExact), "25000000")
        .by_default(programs::BreakEvenProblem{}.bucket_bytes),
    either("compression", kCompressionForms, "Compression of gradients.",
           kCompressionObject.example_json)
        .required(),
    number("encode_decode_s",
           "Time to compress, stage, merge and scatter in an iteration, s. The default follows "
           "from the costs of the compression.",
           io::at_least(0), "0.05"),
    list("bandwidth_Bps", kBandwidth, "Bandwidths at which the times are printed.",
         "[5e8, 1.25e9]")};

inline constexpr io::Key kBreakEven =
    object("compression_breakeven", kBreakEvenKeys,
           "At which bandwidths does compressed training beat dense training?");

// The second example leaves out everything that has a default.
inline constexpr std::array<std::string_view, 2> kBreakEvenExamples{
    R"({"schema_version": 1, "kind": "compression_breakeven", "name": "top-k on 16 workers", "ranks": 16, "latency_s": 5e-5, "gradient_bytes": 100000000, "forward_s": 0, "backward_s": 0.1, "overlap_slowdown": 1, "bucket_bytes": 25000000, "compression": {"method": "topk", "density": 0.01}, "encode_decode_s": 0.05, "bandwidth_Bps": [5e8, 1.25e9, 3.125e9]})",
    R"({"ranks": 8, "latency_s": 1e-5, "gradient_bytes": 110000000, "forward_s": 0.02, "backward_s": 0.05, "compression": "fp16"})"};
inline constexpr io::FileKind kBreakEvenFile{"compression_breakeven", &kBreakEven,
                                             kBreakEvenExamples};

} // namespace stepsim::study::keys
