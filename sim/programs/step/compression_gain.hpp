#pragma once
// Computes at which bandwidths compression pays. It compares the times of one iteration, which are
// functions of x = 1 / bandwidth (s per byte), of dense training whose exchange overlaps with
// backward, dense training that exchanges after backward, and compressed training:
//
//   dense, overlapped   T_d = T_f + max(g T_b, (n-1)(A + c b x)) + A + c b' x
//   dense, sequential   T_s = T_f + T_b + A + c M x
//   compressed          T_z = T_f + T_b + T_e + Lam + C x
//
// A = 2(P-1) alpha and c = 2(P-1)/P are the constants of a ring. The M bytes are in n = ceil(M/b)
// buckets, the last of b' bytes. T_d - T_z is convex in x and consists of two straight pieces, so
// that compression pays below some bandwidth, above some bandwidth, both, everywhere or nowhere.
// Source: SPA 12 (forms recalled, break-even derived).
#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::programs {

struct BreakEvenProblem {
  std::int64_t ranks = 2;                 // P >= 2
  double latency_s{};                     // alpha
  std::int64_t gradient_bytes = 1;        // M > 0
  std::int64_t bucket_bytes = 26'214'400; // b > 0
  double forward_s{};                     // T_f
  double backward_s{};                    // T_b
  double overlap_slowdown = 1;            // g >= 1: factor on backward while messages are sent
  double encode_decode_s{};               // T_e: select, residual, staging, merge, scatter
  double startup_s{};                     // Lam
  double sent_bytes{};                    // C: bytes sent one after the other
};

struct Buckets {
  std::int64_t count{};      // n
  std::int64_t last_bytes{}; // b'
};
[[nodiscard]] Buckets buckets_of(const BreakEvenProblem& problem);

[[nodiscard]] double dense_overlapped_s(const BreakEvenProblem& problem, double bandwidth_Bps);
[[nodiscard]] double dense_sequential_s(const BreakEvenProblem& problem, double bandwidth_Bps);
[[nodiscard]] double compressed_s(const BreakEvenProblem& problem, double bandwidth_Bps);

enum class DenseBaseline { overlapped, sequential };

struct BandwidthInterval {      // both ends are excluded
  double from_Bps{};            // 0 = no lower limit
  std::optional<double> to_Bps; // empty = no upper limit
  [[nodiscard]] bool operator==(const BandwidthInterval&) const = default;
};

// The bandwidths at which compressed training is faster than the baseline, not equally fast.
struct CompressionGain {
  std::vector<double> break_even_Bps;  // ends of the intervals, ascending; at most two
  std::vector<BandwidthInterval> wins; // ascending
};
[[nodiscard]] CompressionGain compression_gain(const BreakEvenProblem& problem,
                                               DenseBaseline baseline);

} // namespace stepsim::programs
