#pragma once
// From the times of point-to-point probes to the numbers of a link (CAL 8.3), and to a calibration
// file (CAL 5).
//   beta     slope of the ping-pong times over sizes of 64 KiB and more: a message that fits into
//            a token bucket, a cache or a socket buffer moves faster than the link does. The slopes
//            of exchange, shift and reduce are taken over the same sizes
//   alpha    time of the smallest ping-pong message less beta times its bytes, at least 0: a
//   latency
//            that holds the ports and a delay that does not, alpha = l + d (LogGP's o + g and L)
//   l        time of one more of the smallest messages in a stream less beta times its bytes, at
//            least the block latency and at most alpha; d is the rest of alpha
//   tau      time of one more block of b bytes in a stream, (T(36) - T(4)) / 32 where T(m) is the
//            time of m blocks back to back; block latency tau - b beta, within 0 .. alpha
//   gamma    slope of x += y, which every rank computes at the same time
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "calibrate/core/points.hpp"
#include "calibrate/mpi/prediction.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr std::int64_t kSlopeFrom = 65536;
inline constexpr double kHostBound = 1.3; // a larger duplex factor: the host limits, not the link
inline constexpr int kShortStream = 4;    // blocks sent back to back
inline constexpr int kLongStream = 36;

// What the probes measured: all samples of four probes, several per size, and the two streams.
struct ProbeTimes {
  std::vector<Repetition> pingpong, exchange, shift, reduce;
  double short_stream_s{}, long_stream_s{}; // medians, kShortStream and kLongStream blocks
  double short_small_s{}, long_small_s{};   // the same with messages of the smallest size
  double block_bytes{};
};

// Measured times of one of the MPI library's own collectives.
struct LibrarySamples {
  coll::Op op{};
  std::vector<Repetition> samples; // by size; sizes that the time did not allow are missing
};

// What the probes say of a link. The duplex factors are how many times as long a byte of an
// exchange or of a shift takes as a byte one way; 1 is a link that is free in both directions.
struct LinkEstimate {
  double alpha{}, beta{}, gamma{}; // s, s per byte
  double delay_s{};                // part of alpha that holds no port
  double block_latency_s{};        // <= latency_s()
  double reply_s{}; // one way of the smallest message probed (4 bytes), taken for an empty reply
  double duplex_exchange{}, duplex_shift{};
  std::vector<std::string> warnings;
  [[nodiscard]] double latency_s() const { return alpha - delay_s; }
  [[nodiscard]] bool host_bound() const {
    return duplex_exchange > kHostBound || duplex_shift > kHostBound;
  }
};
// If the longer stream takes no longer, tau is b beta, with a warning. Throws SimulationError where
// times do not grow with size.
[[nodiscard]] LinkEstimate estimate_link(const ProbeTimes& times);

struct FileText {
  std::string name, importer, date;
  io::Json options; // transport, load, processes per core: what was in force
  std::vector<std::string> warnings;
  std::string link_class = "network";    // host where ranks share one
  std::vector<LibrarySamples> library{}; // measured curves of the MPI library's own collectives
};
// Probe curves as points, link parameters, and the all-reduces predicted from them for these ranks:
// a scenario that names one of these algorithms then runs with duplex factors and block times.
// `predictor_of` takes the tree.
[[nodiscard]] io::Json calibration_of(const ProbeTimes& times, const LinkEstimate& link,
                                      std::uint32_t ranks, const MessageOptions& options,
                                      const FileText& text);

} // namespace stepsim::calibrate::mpi
