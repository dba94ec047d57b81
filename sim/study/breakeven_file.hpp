#pragma once
// Reads a break-even problem (a file of kind compression_breakeven, SPA 12): at which bandwidths is
// compressed training faster than dense training?
//   {"ranks", "latency_s", "gradient_bytes", "forward_s", "backward_s", "overlap_slowdown"?,
//    "bucket_bytes"?, "compression": as in a scenario, "encode_decode_s"?, "bandwidth_Bps"?: [..]}
// The time of the compressed exchange is startup + bytes / bandwidth, so that every method whose
// closed form T is linear in 1/bandwidth works:
//   startup = T(1/bandwidth = 0),   bytes = T(1/bandwidth = 1) - startup
#include <string>
#include <vector>

#include "document/json.hpp"
#include "programs/step/compression_gain.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

struct BreakEvenFile {
  programs::BreakEvenProblem problem;
  std::string method;                // value of /compression/method
  std::vector<double> bandwidth_Bps; // bandwidths at which times are printed, in file order
  std::vector<std::string> warnings;
};

// Throws InputError with all problems (SPA 14), and if the method has no linear closed form for
// this number of ranks.
[[nodiscard]] BreakEvenFile parse_breakeven(const io::Json& tree, Files& files);

} // namespace stepsim::study
