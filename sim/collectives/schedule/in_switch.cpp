#include "collectives/schedule/two_level.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "nccl/pair_parts.hpp"
#include "nccl/published_constants.hpp"

namespace stepsim::collectives {
namespace {

bool uses_nvls(const Collective& collective) {
  return collective.algorithm != kCollnet || collective.options.intra_algorithm == kNvls;
}

TwoLevel levels_of(const Collective& collective) {
  return collective.links.two_level.value_or(TwoLevel{});
}

NvlsCost nvls_of(const Collective& collective) {
  const std::optional<NvlsCost> cost = levels_of(collective).nvls;
  if (!cost) {
    throw SimulationError(*in_switch_problem(collective));
  }
  return *cost;
}

nccl::CollnetLinks collnet_links(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const std::vector<double> additions = reduction_costs(collective);
  return {.nodes = static_cast<double>(shape.nodes),
          .gpus = static_cast<double>(shape.gpus),
          .nics = static_cast<double>(shape.cards),
          .inner_latency_s = shape.intra.startup_s(),
          .inner_per_byte_s = shape.intra.per_byte_s,
          .network_latency_s = shape.inter.startup_s(),
          .network_per_byte_s = shape.inter.per_byte_s,
          .reduction_per_byte_s = *std::ranges::max_element(additions),
          .switch_latency_s = levels_of(collective).switch_latency_s.value_or(kSwitchLatency)};
}

// Bytes that a GPU sends into its node and over its card for n bytes; the busiest one.
double sent_by_gpu(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const double n = collective.bytes;
  const double gpus = shape.gpus;
  const double on_card = shape.nodes > 1 ? n / gpus : 0;
  if (!uses_nvls(collective)) {
    return 2 * (gpus - 1) / gpus * n + on_card;
  }
  return (collective.op == Op::allreduce ? n * (1 + 1 / gpus) : n * (gpus - 1) / gpus) + on_card;
}

// (P-1)/P: the part of the message that comes from, or goes to, other ranks.
double other_ranks(const Collective& collective) {
  return (collective.ranks - 1.0) / collective.ranks;
}

// The line of a time that is one; through so many bytes that its start-up costs the slope no
// digits.
template <class Seconds> ClosedForm line_of(const Seconds& seconds, double bytes) {
  constexpr double kMany = 1e15;
  const double startup = seconds(0.0);
  return linear_form(startup, (seconds(kMany) - startup) / kMany, bytes);
}

double collnet_seconds_of(const Collective& collective, double bytes, std::uint32_t chunks) {
  const nccl::CollnetLinks links = collnet_links(collective);
  const auto count = static_cast<int>(chunks);
  if (!uses_nvls(collective)) {
    return nccl::collnet_seconds(bytes, links, count);
  }
  const NvlsCost cost = nvls_of(collective);
  return nccl::collnet_nvls_seconds(bytes, links, count, cost.startup_s, 1 / cost.per_byte_s);
}

} // namespace

std::optional<std::string> in_switch_problem(const Collective& collective) {
  const AlgorithmId id = collective.algorithm;
  const NodeShape shape = node_shape(collective);
  const std::string word(name(id));
  if (collective.links.fabric) {
    return word + " has no contention and knows no topology";
  }
  if (!collective.links.pairs.empty() || collective.links.pairs_only) {
    return word + " needs equal links between ranks";
  }
  if (!shape.equal_nodes) {
    return word + " needs equal ranks per node; use hierarchical_leader, or ring on one card";
  }
  if (id == kNvls && shape.nodes > 1) {
    return "nvls adds in the switch of one node, got " + std::to_string(shape.nodes) +
           " nodes; use nvls_tree";
  }
  if (id != kNvls && shape.nodes == 1) {
    return word + " needs several nodes" + (id == kNvlsTree ? "; use nvls" : "");
  }
  if (!uses_nvls(collective)) {
    return std::nullopt;
  }
  const std::string nvls = id == kCollnet ? "collnet with intra_algorithm nvls" : word;
  if (shape.gpus < nccl::kLeastNvlsGpus) {
    return nvls + " needs at least 3 GPUs per node, got " + std::to_string(shape.gpus);
  }
  if (!levels_of(collective).adds_type && collective.op != Op::allgather) {
    return nvls + ": the switch of a node does not add elements of one byte, such as fp8 and int8";
  }
  if (!levels_of(collective).nvls) {
    return nvls + " needs the rate at which the node's switch adds: give nvls_Bps (and "
                  "nvls_startup_s)";
  }
  return std::nullopt;
}

std::optional<ClosedForm> nvls_allreduce(const Collective& collective) {
  const NvlsCost cost = nvls_of(collective);
  const auto seconds = [&](double n) {
    return nccl::nvls_seconds(n, collective.ranks, cost.startup_s, 1 / cost.per_byte_s);
  };
  return line_of(seconds, collective.bytes);
}

std::optional<ClosedForm> nvls_half(const Collective& collective) {
  const NvlsCost cost = nvls_of(collective);
  return linear_form(cost.startup_s, other_ranks(collective) * cost.per_byte_s, collective.bytes);
}

std::optional<ClosedForm> nvls_tree_allreduce(const Collective& collective) {
  const NvlsCost cost = nvls_of(collective);
  const NodeShape shape = node_shape(collective);
  const double rate = nccl::nvls_tree_Bps(shape.nodes, shape.gpus, 1 / cost.per_byte_s,
                                          shape.cards / shape.inter.per_byte_s);
  return linear_form(cost.startup_s + 2 * floor_log2(shape.nodes) * shape.inter.startup_s(),
                     1 / rate, collective.bytes);
}

double collnet_seconds(const Collective& collective, std::uint32_t chunks) {
  return collnet_seconds_of(collective, collective.bytes, chunks);
}

// Linear where it is not cut: else the slowest stage may change with the bytes.
std::optional<ClosedForm> collnet_allreduce(const Collective& collective) {
  const std::uint32_t chunks = pipeline_chunks(collective);
  if (chunks != 1 || !collective.options.pipeline_chunks) {
    return ClosedForm{.seconds = collnet_seconds(collective, chunks), .upper_bound = false};
  }
  return line_of([&](double bytes) { return collnet_seconds_of(collective, bytes, 1); },
                 collective.bytes);
}

Evaluation in_switch_evaluation(const Collective& collective, bool with_transfer_times) {
  Evaluation result;
  const std::vector<double> enter = entry_times(collective);
  const double begin = *std::ranges::max_element(enter);
  Collective together = collective;
  together.enter_s.clear();
  const AlgorithmRow* row = find_algorithm(collective.op, collective.algorithm);
  const double seconds = is_empty(collective) ? 0 : row->exact(together)->seconds;
  for (const double entry : enter) {
    result.ranks.finish_s.push_back(is_empty(collective) ? entry : begin + seconds);
  }
  if (with_transfer_times) {
    result.ranks.transfer_s.assign(collective.ranks, seconds);
  }
  result.seconds = *std::ranges::max_element(result.ranks.finish_s);
  result.messages = in_switch_traffic(collective).messages;
  return result;
}

Traffic in_switch_traffic(const Collective& collective) {
  if (is_empty(collective)) {
    return {};
  }
  const double sent = sent_by_gpu(collective);
  return {.min_per_rank = sent,
          .max_per_rank = sent,
          .total = sent * collective.ranks,
          .steps = 1,
          .messages = collective.ranks};
}

LowerBound in_switch_bound(const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const double n = collective.bytes;
  const double cards = shape.nodes > 1 ? shape.cards / shape.inter.per_byte_s : 0;
  double gpu = shape.gpus > 1 && shape.intra.per_byte_s > 0 ? 1 / shape.intra.per_byte_s : 0;
  double latency = shape.inter.startup_s();
  if (uses_nvls(collective)) {
    const NvlsCost cost = nvls_of(collective);
    gpu = 1 / cost.per_byte_s;
    latency = cost.startup_s;
  }
  const double share = collective.op == Op::allreduce ? 1 : other_ranks(collective);
  const double on_cards = cards > 0 ? n / cards : 0;
  const double on_gpu = share * n / (gpu + cards / shape.gpus);
  return {latency, std::max(on_gpu, on_cards), 0,
          on_cards > on_gpu ? nccl::BoundKind::nic : nccl::BoundKind::gpu};
}

} // namespace stepsim::collectives
