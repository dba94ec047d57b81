#include "nccl/candidates.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

namespace {

constexpr std::array kTieOrder{
    Pair{Algorithm::ring, Protocol::ll},     Pair{Algorithm::ring, Protocol::ll128},
    Pair{Algorithm::ring, Protocol::simple}, Pair{Algorithm::tree, Protocol::ll},
    Pair{Algorithm::tree, Protocol::ll128},  Pair{Algorithm::tree, Protocol::simple},
    Pair{Algorithm::nvls, Protocol::simple}, Pair{Algorithm::nvls_tree, Protocol::simple},
    Pair{Algorithm::pat, Protocol::simple},  Pair{Algorithm::collnet, Protocol::simple}};

bool gathers_or_scatters(Operation operation) {
  return operation == Operation::allgather || operation == Operation::reduce_scatter;
}

// Whether a switch that reduces is there and adds the elements; all-gather adds nothing.
bool switch_can(const Layout& layout, Operation operation, const Restrictions& restrictions) {
  return layout.in_switch_reduction && layout.smallest_gpus >= kLeastNvlsGpus &&
         kNvlsEfficiency[layout.row] > 0 &&
         (restrictions.switch_adds_type || operation == Operation::allgather);
}

bool exists(const Layout& layout, Operation operation, Algorithm algorithm,
            const Restrictions& restrictions) {
  const bool allreduce = operation == Operation::allreduce;
  const bool one_node = layout.nodes == 1;
  switch (algorithm) {
  case Algorithm::ring:
    return true;
  case Algorithm::tree:
    return allreduce;
  case Algorithm::nvls:
    return one_node && (allreduce || gathers_or_scatters(operation)) &&
           switch_can(layout, operation, restrictions);
  case Algorithm::nvls_tree:
    return !one_node && allreduce && switch_can(layout, operation, restrictions);
  case Algorithm::pat:
    return !one_node && layout.gpus == 1 && gathers_or_scatters(operation) &&
           restrictions.version >= kPatVersion;
  case Algorithm::collnet:
    return restrictions.collnet && !one_node && allreduce && layout.in_switch_reduction &&
           restrictions.switch_adds_type;
  case Algorithm::p2p:
    return false;
  }
  return false;
}

template <class Value> bool allows(const std::vector<Value>& list, Value value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

} // namespace

double published_seconds(const Layout& layout, Operation operation, double bytes, Pair pair) {
  static const Multipliers kPublished = published_multipliers();
  const Parts parts = pair_parts(layout, operation, bytes, pair, kPublished, View::estimate);
  return parts.latency_s + parts.transfer_s;
}

OperationTime operation_time(const Layout& layout, Operation operation, double bytes, Pair pair,
                             const Multipliers& multipliers) {
  const Parts parts = pair_parts(layout, operation, bytes, pair, multipliers, View::cost);
  const bool in_network = pair.algorithm == Algorithm::nvls ||
                          pair.algorithm == Algorithm::nvls_tree ||
                          pair.algorithm == Algorithm::collnet;
  OperationTime time;
  time.latency_s = parts.latency_s;
  time.transfer_s = parts.transfer_s;
  // The stages of collnet have a pipeline of their own.
  if (pair.algorithm != Algorithm::collnet) {
    time.cross_s = multipliers[Parameter::kappa] * std::sqrt(parts.latency_s * parts.transfer_s);
  }
  time.bound = node_bound(operation, bytes,
                          {.nodes = layout.nodes,
                           .gpus = layout.gpus,
                           .inner_Bps = parts.inner_Bps,
                           .nics_Bps = parts.nics_Bps,
                           .latency_s = parts.least_latency_s},
                          in_network);
  time.seconds = parts.latency_s + parts.transfer_s + time.cross_s;
  time.limited_by = parts.latency_s > parts.transfer_s ? Limit::latency : parts.limit;
  const double launch = kMicrosecond * kLaunch * multipliers[Parameter::floor];
  if (launch > time.seconds) {
    time.seconds = launch;
    time.limited_by = Limit::floor;
  }
  if (time.bound.seconds > time.seconds) {
    time.seconds = time.bound.seconds;
    time.limited_by = Limit::bound;
  }
  return time;
}

Version parse_version(std::string_view given) {
  std::array<int, 3> parts{};
  std::size_t count = 0;
  const char* at = given.data();
  const char* const end = given.data() + given.size();
  while (count < parts.size()) {
    const auto [next, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc{}) {
      break;
    }
    ++count;
    at = next;
    if (at == end || *at != '.') {
      break;
    }
    ++at;
  }
  const bool whole = at == end && !given.ends_with('.');
  constexpr int kCodes = 10'000; // 2.8.4 is 2804 and 2.29.2 is 22902
  if (whole && count == 1 && parts[0] >= kCodes) {
    return {parts[0] / kCodes, parts[0] / 100 % 100};
  }
  if (!whole || count < 2 || parts[0] < 1 || parts[1] < 0) {
    throw UsageError("version of the library must be like 2.29, got " + base::shown_value(given));
  }
  return {parts[0], parts[1]};
}

Candidates candidates(const Layout& layout, Operation operation, const Restrictions& restrictions) {
  Candidates result;
  if (operation == Operation::alltoall) {
    result.add({Algorithm::p2p, Protocol::simple});
    return result;
  }
  for (const Pair& pair : kTieOrder) {
    const bool ll128 = pair.protocol != Protocol::ll128 || (layout.ll128 && restrictions.ll128);
    if (ll128 && exists(layout, operation, pair.algorithm, restrictions) &&
        allows(restrictions.algorithms, pair.algorithm) &&
        allows(restrictions.protocols, pair.protocol)) {
      result.add(pair);
    }
  }
  return result;
}

PairChoice choose_pair(const LibraryModel& model, const Layout& layout, Operation operation,
                       double bytes) {
  const Candidates offered = candidates(layout, operation, model.restrictions);
  if (offered.all().empty()) {
    throw UsageError(std::string(kOperations[operation]) +
                     ": the algorithms and protocols that are allowed leave the library nothing");
  }
  PairChoice choice;
  double least = std::numeric_limits<double>::infinity();
  double second = least;
  for (const Pair& pair : offered.all()) {
    const double seconds =
        model.choice == Choice::published
            ? published_seconds(layout, operation, bytes, pair)
            : operation_time(layout, operation, bytes, pair, model.multipliers).seconds;
    if (seconds < least) {
      if (&pair != offered.all().data()) {
        choice.runner_up = choice.chosen;
      }
      second = least;
      least = seconds;
      choice.chosen = pair;
    } else if (seconds < second) {
      second = seconds;
      choice.runner_up = pair;
    }
  }
  return choice;
}

} // namespace stepsim::nccl
