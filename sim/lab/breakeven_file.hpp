#pragma once
// A break-even problem as a file (kind compression_breakeven, SPA 12): at which bandwidths does
// compressed training beat dense training?
//   {"ranks", "latency_s", "gradient_bytes", "forward_s", "backward_s", "overlap_slowdown"?,
//    "bucket_bytes"?, "compression": as in a scenario, "encode_decode_s"?, "bandwidth_Bps"?: [..]}
// The exchange of the method enters as startup + bytes / bandwidth, taken from its closed form T:
//   startup = T(1/bandwidth = 0),   bytes = T(1/bandwidth = 1) - startup
// so that every method with a linear closed form works.
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "train/step/compression_gain.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct BreakEvenFile {
  train::BreakEvenProblem problem;
  std::string method;                // word of /compression/method
  std::vector<double> bandwidth_Bps; // where times are asked for, in the order of the file
  std::vector<std::string> warnings;
};

// Throws InputError with all problems (SPA 14); also for a method that has no linear closed form on
// these ranks.
[[nodiscard]] BreakEvenFile parse_breakeven(const io::Json& tree, Files& files);

} // namespace stepsim::study
