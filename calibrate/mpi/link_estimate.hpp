#pragma once
// Estimates the parameters of a link from the times of point-to-point probes (CAL 8.3), and makes a
// calibration file from them (CAL 5).
//   beta     slope of the ping-pong times over sizes of 64 KiB and more, because a message that
//            fits into a token bucket, a cache or a socket buffer moves faster than the link. The
//            slopes of exchange, shift and reduce use the same sizes
//   alpha    time of the smallest ping-pong message minus beta times its bytes, at least 0: the sum
//            of a latency l that occupies the ports and a delay d that does not (LogGP's o + g, L)
//   l        time that one more of the smallest messages adds to a stream, minus beta times its
//            bytes; at least the block latency and at most alpha. d is alpha - l
//   tau      time that one more block of b bytes adds to a stream, (T(36) - T(4)) / 32 with T(m)
//            the time of m blocks sent back to back; the block latency is tau - b beta, within
//            0 .. alpha
//   gamma    slope of x += y, which every rank computes at the same time

#include "calibrate/core/points.hpp"
#include "calibrate/mpi/process_program.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "links/fabric/placement.hpp"

namespace stepsim::calibrate::mpi {

// Predicts the times of collectives from measured messages between two ranks alone (CAL 8.3, 8.4).
// The evaluator is the one of `stepsim collective --calibration` on the same file
// (collectives/evaluate/measured_steps.hpp). Operations that the simulator does not have are added
// here: broadcast and reduce by `ring`, and the tree of sparse lists.

struct Predictor {
  std::shared_ptr<const collectives::MeasuredSteps> steps; // not null
  collectives::LinkCost link;                              // cost of large messages
  double gamma{};                                          // s per byte added
  double merge_s{}; // s to merge two sparse lists of the size that is predicted
  // If set, messages share the links of this fabric, which give the time of their bytes; `link`
  // gives the latency, and `steps` are not used. Only kinds for which simulated() is true can then
  // be predicted.
  std::shared_ptr<const links::RankFabric> fabric{};
  std::vector<double> enter_s{}; // [rank] time at which it begins, s; empty = all at 0
  // Broadcast by mst (binomial tree): a rank sends to all of its children at once, as MPI libraries
  // do, instead of to one child after the other. `fabric` and `enter_s` are then not used.
  bool children_at_once = false;
};

// The predictor of a file of kind network_calibration, by its link of class network, else host.
// Throws InputError unless there is one and it has both duplex factors.
[[nodiscard]] Predictor predictor_of(const io::Json& calibration);

// The network of `ranks` ranks on a file of kind topology: rank r is on the host r of the file.
[[nodiscard]] std::shared_ptr<const links::RankFabric> fabric_of(const io::Json& topology,
                                                                 std::uint32_t ranks);

// Whether the simulator has a schedule for this kind. It has none for broadcast and reduce by ring,
// and none for sparse kinds.
[[nodiscard]] bool simulated(const Kind& kind);

// Seconds of the collective from time 0; 0 for one rank or no bytes.
[[nodiscard]] double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                             const MessageOptions& options, const Predictor& predictor);

// The largest part of the predicted time: "latency", "bandwidth" or "reduction" (CAL 11).
[[nodiscard]] std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                   const MessageOptions& options, const Predictor& predictor);

inline constexpr std::int64_t kSlopeFrom = 65536; // bytes; slopes use messages of this size or more
inline constexpr double kHostBound = 1.3; // a larger duplex factor means that the host is the limit
inline constexpr int kShortStream = 4;    // blocks sent back to back
inline constexpr int kLongStream = 36;

// Medians of streams, in s: of kShortStream and kLongStream blocks, and of as many smallest
// messages.
struct StreamTimes {
  double short_stream_s{}, long_stream_s{};
  double short_small_s{}, long_small_s{};
  double block_bytes{};
};

// Times of the probes: all samples of four probes, several per size, and those of the streams.
struct ProbeTimes : StreamTimes {
  std::vector<io::Sample> pingpong, exchange, shift, reduce;
};

// Measured times of one operation of the MPI library.
struct LibrarySamples {
  collectives::Op op{};
  std::vector<io::Sample> samples; // by size; sizes for which there was no time are missing
};

// The estimated parameters of a link. A duplex factor is the time per byte of an exchange, or of a
// shift, divided by the time per byte one way: 1 for a link that is free in both directions.
struct LinkEstimate {
  double alpha{}, beta{}, gamma{}; // s, s per byte
  double delay_s{};                // part of alpha that occupies no port, s
  double block_latency_s{};        // <= latency_s()
  // s, one way, of the smallest message probed (4 bytes); taken for an empty reply
  double reply_s{};
  double duplex_exchange{}, duplex_shift{};
  std::vector<std::string> warnings;
  [[nodiscard]] double latency_s() const { return alpha - delay_s; }
  [[nodiscard]] bool host_bound() const {
    return duplex_exchange > kHostBound || duplex_shift > kHostBound;
  }
};
// If the longer stream does not take longer than the shorter one, tau is b beta, or d is 0 for
// streams of the smallest messages, with a warning. Throws SimulationError if the times of a probe
// do not grow with size, or if it has fewer than two sizes from kSlopeFrom on.
[[nodiscard]] LinkEstimate estimate_link(const ProbeTimes& times);

struct FileText {
  std::string name, importer, date;
  io::Json options; // settings of the measurement: transport, load, processes per core
  std::vector<std::string> warnings;
  std::string link_class = "network";    // `host` if ranks share a host
  std::vector<LibrarySamples> library{}; // operations of the MPI library
};
// The JSON of the calibration: the curves of the probes as points, the parameters of the link, and
// for every dense all-reduce of kinds() the times that these two predict on `ranks` ranks. A
// scenario with such an algorithm takes its times from that curve, and so also what traffic in both
// directions and blocks cost. predictor_of() accepts the result.
[[nodiscard]] io::Json calibration_of(const ProbeTimes& times, const LinkEstimate& link,
                                      std::uint32_t ranks, const MessageOptions& options,
                                      const FileText& text);

} // namespace stepsim::calibrate::mpi
