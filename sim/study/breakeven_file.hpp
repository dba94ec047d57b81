#pragma once
// Reads a break-even problem (a file of kind compression_breakeven, SPA 12): at which bandwidths is
// compressed training faster than dense training?
//   {"ranks", "latency_s", "gradient_bytes", "forward_s", "backward_s", "overlap_slowdown"?,
//    the bytes of a bucket?, "compression": as in a scenario, "encode_decode_s"?,
//    the bandwidths?}
// The time of the compressed exchange is startup + bytes / bandwidth, so that every method whose
// closed form T is linear in 1/bandwidth works:
//   startup = T(1/bandwidth = 0),   bytes = T(1/bandwidth = 1) - startup

#include "programs/step/compression_gain.hpp"
#include "study/compare.hpp"

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

// The rows of `compare --break-even`. At every bandwidth of the file, the fastest first, they are
// the compressed training, dense_overlapped (the exchange hides behind backward) and
// dense_sequential (it follows backward), with
//   algorithm, bandwidth, step, exposed communication, ratio, assumes, error
// and in the row of compressed training:
//   speedup_vs_dense_overlapped, speedup_vs_dense_sequential
//   encode_decode_s, exchange_startup_s, exchange_bytes   (times and bytes of an iteration)
//   break_even_Bps, compression_wins                      (against dense_overlapped, as in the rows
//   break_even_sequential_Bps, compression_wins_sequential      of alternatives; against
//   sequential)
// A file without bandwidths has one row, of compressed training, without any times.
[[nodiscard]] Comparison breakeven_rows(const BreakEvenFile& file);

} // namespace stepsim::study
