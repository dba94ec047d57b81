#pragma once
// When does compression pay? Times of one iteration over x = 1 / bandwidth (s per byte), of dense
// training whose exchange hides behind backward, of dense training that exchanges afterwards, and
// of compressed training:
//
//   dense, overlapped   T_d = T_f + max(g T_b, (n-1)(A + c b x)) + A + c b' x
//   dense, sequential   T_s = T_f + T_b + A + c M x
//   compressed          T_z = T_f + T_b + T_e + Lam + C x
//
// A = 2(P-1) alpha and c = 2(P-1)/P of the ring; M bytes in n = ceil(M/b) buckets, the last of b'.
// T_d - T_z is convex in x and made of two straight pieces, so compression pays below a bandwidth,
// above one, both, everywhere or nowhere. Source: SPA 12 (forms recalled, break-even derived).
#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::train {

struct BreakEvenProblem {
  std::int64_t ranks = 2;                 // P >= 2
  double latency_s{};                     // alpha
  std::int64_t gradient_bytes = 1;        // M > 0
  std::int64_t bucket_bytes = 26'214'400; // b > 0
  double forward_s{};                     // T_f
  double backward_s{};                    // T_b
  double overlap_slowdown = 1;            // g >= 1, of backward while messages travel
  double encode_decode_s{};               // T_e: select, residual, staging, merge, scatter
  double startup_s{};                     // Lam
  double sent_bytes{};                    // C: seconds of the exchange per x
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

struct BandwidthInterval {      // open at both ends
  double from_Bps{};            // 0 = the slowest
  std::optional<double> to_Bps; // empty = without end
  [[nodiscard]] bool operator==(const BandwidthInterval&) const = default;
};

// Where compressed training is faster than the baseline; equality is not a gain.
struct CompressionGain {
  std::vector<double> break_even_Bps;  // ascending: the ends of the intervals, at most two
  std::vector<BandwidthInterval> wins; // ascending
};
[[nodiscard]] CompressionGain compression_gain(const BreakEvenProblem& problem,
                                               DenseBaseline baseline);

} // namespace stepsim::train
