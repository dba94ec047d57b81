#include "calibrate/core/least_squares.hpp"

#include <cmath>

#include "collectives/algorithms.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::calibrate {

namespace {

constexpr double kLinear = 1e-12;

} // namespace

// The closed form is evaluated with one of latency, time per byte and time to add a byte set to 1
// and the others to 0. It is linear if these three times add up to the time with all of them set to
// 1; a collective whose closed form is not linear has no counts.
std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                  std::int64_t ranks, double bytes) {
  if (op == "pingpong") {
    return Counts{1, bytes, 0};
  }
  const auto known_op = collectives::parse_op(op);
  const auto known_algorithm = collectives::parse_algorithm(algorithm);
  if (!known_op || !known_algorithm || *known_op == collectives::Op::allgatherv ||
      collectives::find_algorithm(*known_op, *known_algorithm) == nullptr || ranks < 2 ||
      ranks > static_cast<std::int64_t>(io::keys::kMostRanks) ||
      collectives::algorithm(*known_algorithm).in_switch) {
    return std::nullopt;
  }
  collectives::Collective collective;
  collective.op = *known_op;
  collective.algorithm = *known_algorithm;
  collective.ranks = static_cast<std::uint32_t>(ranks);
  collective.bytes = bytes;
  collective.options.chunking = collectives::Chunking::real;
  const auto seconds = [&](double alpha, double beta, double gamma) {
    collective.links.all = {.latency_s = alpha, .block_latency_s = alpha, .per_byte_s = beta};
    collective.reduction_s_per_byte = gamma;
    const auto form = collectives::closed_form(collective);
    return form && form->startup_s ? std::optional(form->seconds) : std::nullopt;
  };
  const auto all = seconds(1, 1, 1);
  const auto alpha = seconds(1, 0, 0);
  const auto beta = seconds(0, 1, 0);
  const auto gamma = seconds(0, 0, 1);
  if (!all || !alpha || !beta || !gamma) {
    return std::nullopt;
  }
  const Counts counts{*alpha, *beta, *gamma};
  const double sum = counts[0] + counts[1] + counts[2];
  return std::abs(sum - *all) <= kLinear * *all ? std::optional(counts) : std::nullopt;
}

} // namespace stepsim::calibrate
