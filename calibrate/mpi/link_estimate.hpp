#pragma once
// From the times of point-to-point probes to the numbers of a link (CAL 8.3), and to a calibration
// file (CAL 5).
//   beta     slope over sizes of 64 KiB and more: small messages pass token buckets, caches and
//            socket buffers at a higher rate and must not set it; likewise for exchange and shift
//   alpha    smallest ping-pong less its bytes
//   tau      one more block of a stream, (T(36) - T(4)) / 32; block latency max(0, tau - b beta)
//   gamma    slope of x += y, every rank at the same time
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "calibrate/core/points.hpp"
#include "calibrate/mpi/prediction.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr std::int64_t kSlopeFrom = 65536;
inline constexpr double kHostBound = 1.3; // duplex factors above: the host limits, not the link
inline constexpr int kShortTrain = 4;     // blocks
inline constexpr int kLongTrain = 36;

// All samples, several per size.
struct ProbeTimes {
  std::vector<Repetition> pingpong, exchange, shift, reduce;
  double short_train_s{}, long_train_s{}; // medians
  double block_bytes{};
};

// What the probes say of a link. The duplex factors are how many times as long a byte of an
// exchange or of a shift takes as a byte one way; 1 is a link that is free in both directions.
struct LinkEstimate {
  double alpha{}, beta{}, gamma{}; // s, s per byte
  double block_latency_s{};        // <= alpha
  double duplex_exchange{}, duplex_shift{};
  StepCosts costs;
  std::vector<std::string> warnings;
  [[nodiscard]] bool host_bound() const {
    return duplex_exchange > kHostBound || duplex_shift > kHostBound;
  }
};
// Throws SimulationError where time does not grow with size.
[[nodiscard]] LinkEstimate estimate_link(const ProbeTimes& times);

struct FileText {
  std::string name, importer, date;
  io::Json options; // transport, load, processes per core: what was in force
  std::vector<std::string> warnings;
};
// Probe curves, link parameters, and the all-reduces predicted from them for these ranks: a
// scenario that names one of these algorithms then runs with duplex factors and block times.
[[nodiscard]] io::Json calibration_of(const ProbeTimes& times, const LinkEstimate& link,
                                      std::uint32_t ranks, const MessageOptions& options,
                                      const FileText& text);

} // namespace stepsim::calibrate::mpi
