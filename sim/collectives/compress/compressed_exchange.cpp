// Which collectives each compression method is made of (SPA 3, 4, 11; PIP 6).

#include "collectives/compress/compressed_exchange.hpp"

#include "base/collected.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/compress/exchange_builder.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

namespace {

// Whole bytes, or buckets, rounded up.
double divided_up(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

// max(1, floor(density m / shards)); of a given k, its share.
std::int64_t entries_per_shard(const Compression& compression, std::int64_t elements,
                               std::uint32_t shards) {
  if (shards == 1 || elements == 0) {
    return selected_entries(compression, elements);
  }
  const double all = compression.k ? static_cast<double>(*compression.k)
                                   : *compression.density * static_cast<double>(elements);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(all / shards)));
}

void add_stages(const ExchangeBuilder& build) {
  switch (build.compression.method) {
  case CompressionMethod::none:
    return build.add(with_chosen_algorithm(build.dense(build.dense_bytes())));
  case CompressionMethod::fp16:
    return add_fp16(build);
  case CompressionMethod::truncate16:
  case CompressionMethod::quantize8:
  case CompressionMethod::custom_codec:
    return add_codec(build);
  case CompressionMethod::custom:
    return add_custom(build);
  case CompressionMethod::topk:
  case CompressionMethod::dgc:
  case CompressionMethod::gaussian_k:
  case CompressionMethod::gtopk_exact:
    return add_topk(build);
  case CompressionMethod::gtopk_tree:
    return add_tree(build);
  case CompressionMethod::gtopk_butterfly:
    return add_butterfly(build);
  case CompressionMethod::sparcml_rd:
    return add_sparcml(build);
  case CompressionMethod::hierarchical_topk:
    return add_hierarchical(build);
  case CompressionMethod::powersgd:
    return add_powersgd(build);
  case CompressionMethod::qsgd:
    return add_packed(build, divided_up(build.gradient.elements * build.compression.bits, 8) +
                                 kScaleBytes *
                                     divided_up(build.gradient.elements, build.compression.bucket));
  case CompressionMethod::signsgd:
    return add_packed(build, divided_up(build.gradient.elements, 8));
  case CompressionMethod::sparcml_split:
  case CompressionMethod::topk_dsa:
  case CompressionMethod::ok_topk:
  case CompressionMethod::omnireduce:
    return add_formula(build.compression, build.base, build.exchange);
  }
}

// Times and traffic of a compressed exchange, stage by stage, and the work beside the wire.

// Sent by each rank of the cluster in all stages that are lists of transfers.
std::vector<RankTraffic> sent(const CompressedExchange& exchange) {
  std::vector<RankTraffic> ranks(exchange.ranks);
  for (const ExchangeStage& stage : exchange.stages) {
    if (!has_transfers(stage.collective.algorithm)) {
      continue;
    }
    const std::vector<RankTraffic> locals = traffic_by_rank(stage.collective);
    for (std::uint32_t group = 0; group < stage.groups; ++group) {
      for (std::uint32_t local = 0; local < locals.size(); ++local) {
        RankTraffic& rank = ranks[group * stage.group_stride + local * stage.rank_stride];
        const RankTraffic& part = locals[local];
        rank.bytes += part.bytes + static_cast<double>(part.messages) * stage.header_bytes;
        rank.messages += part.messages;
      }
    }
  }
  return ranks;
}

std::optional<double> closed_form_of(const Collective& collective) {
  if (!collective.homogeneous()) {
    return std::nullopt;
  }
  const std::optional<ClosedForm> form = closed_form(collective);
  return form ? std::optional(form->seconds) : std::nullopt;
}

// Stages follow each other, so that seconds and bytes of links add up; the method reported is the
// most faithful that any stage used.
void add_stage(ExchangeTime& time, const Collective& collective, std::optional<Method> method) {
  if (collective.algorithm == AlgorithmId::automatic) {
    return add_stage(time, with_chosen_algorithm(collective), method);
  }
  const Method used = method.value_or(automatic_method(collective));
  time.method = std::max(time.method, used);
  if (used == Method::closed_form) {
    time.seconds += seconds(collective, used);
    return;
  }
  const Evaluation result = used == Method::events ? events(collective) : max_plus(collective);
  check_bound(collective, used, result.seconds);
  time.seconds += result.seconds;
  time.events += result.events;
  links::add_uses(result.links, 1, time.links);
}

CompressTimes custom_times(const Compression& compression, const CompressedExchange& exchange,
                           std::uint32_t ranks) {
  const auto value = [&](base::Formula CustomCompressor::*formula) {
    return custom_value(compression.custom, formula, exchange.elements, ranks,
                        compression.density.value_or(1));
  };
  CompressTimes times;
  times.select_s = value(&CustomCompressor::compress_s);
  if (ranks > 1) {
    times.merge_s =
        custom_merges(compression.custom.exchange, ranks) * value(&CustomCompressor::merge_s);
    times.scatter_s = value(&CustomCompressor::decompress_s);
  }
  return times;
}

CompressTimes unslowed_times(const Compression& compression, const CompressedExchange& exchange,
                             std::uint32_t ranks) {
  if (compression.method == CompressionMethod::custom) {
    return exchange.elements > 0 ? custom_times(compression, exchange, ranks) : CompressTimes{};
  }
  CompressTimes times;
  const CompressCosts& costs = compression.costs;
  const auto elements = static_cast<double>(exchange.elements);
  const auto searched = static_cast<double>(exchange.searched);
  const auto entries = static_cast<double>(exchange.entries);
  const CompressionKind kind = row(compression.method).kind;
  const bool selects = kind == CompressionKind::sparse || kind == CompressionKind::encoded;
  if (exchange.elements == 0 || !selects) {
    return times; // nothing is sent, or nothing is selected
  }
  times.select_s = costs.select_s;
  if (costs.n_log_n) {
    times.select_s +=
        searched > 1 ? costs.select_s_per_element_log2 * searched * std::log2(searched) : 0;
  } else {
    times.select_s += costs.select_s_per_element * searched +
                      costs.select_s_per_entry * static_cast<double>(exchange.k);
  }
  times.residual_s = costs.residual_s_per_element * searched;
  if (ranks > 1) {
    times.staging_s = costs.staging_s_per_element * elements;
    times.merge_s =
        static_cast<double>(exchange.merges) * (costs.merge_s + costs.merge_s_per_entry * entries);
    times.scatter_s =
        costs.scatter_s + costs.scatter_s_per_entry * static_cast<double>(exchange.scattered);
  }
  return times;
}

} // namespace

double dense_bytes(const Compression& compression, const GradientPart& gradient) {
  return gradient.bytes.value_or(static_cast<double>(gradient.elements) *
                                 static_cast<double>(compression.value_bytes));
}

CompressedExchange compressed_exchange(const Compression& compression, const GradientPart& gradient,
                                       const Collective& base) {
  CompressedExchange exchange;
  exchange.ranks = base.ranks;
  exchange.elements = gradient.elements;
  exchange.dense_bytes = dense_bytes(compression, gradient);
  // With hierarchical_topk a rank selects from the shard of the sum that its node gave it.
  const std::uint32_t shards = selecting_shards(compression, base);
  exchange.searched = (gradient.elements + shards - 1) / shards;
  if (row(compression.method).kind == CompressionKind::sparse) {
    exchange.k = entries_per_shard(compression, gradient.elements, shards);
    const double sent = static_cast<double>(exchange.k) * compression.selected_ratio;
    exchange.entries = std::min<std::int64_t>(std::llround(sent), gradient.elements);
  }
  // A worker alone sends nothing, unless a server of its own adds for it.
  const CompressionKind kind = row(compression.method).kind;
  const bool server = (kind == CompressionKind::dense || kind == CompressionKind::codec) &&
                      base.algorithm == AlgorithmId::parameter_server &&
                      base.options.placement == Placement::dedicated;
  if ((base.ranks > 1 || server) && gradient.elements > 0) {
    add_stages({compression, gradient, base, exchange});
  }
  return exchange;
}

ExchangeTime exchange_time(const CompressedExchange& exchange, const Compression& compression,
                           std::optional<Method> method) {
  ExchangeTime time;
  if (!row(compression.method).simulated && method && *method != Method::closed_form) {
    throw SimulationError(std::string(row(compression.method).name) +
                          ": only the closed form is available");
  }
  time.seconds = exchange.fixed_s + exchange.formula_s.value_or(0);
  time.method =
      exchange.stages.empty() ? method.value_or(Method::closed_form) : Method::closed_form;
  for (const ExchangeStage& stage : exchange.stages) {
    add_stage(time, stage.collective, method);
  }
  return time;
}

double evaluation_seconds(const CompressedExchange& exchange, std::optional<Method> method) {
  return base::sum_of<double>(exchange.stages, [&](const ExchangeStage& stage) {
    return evaluation_seconds(stage.collective, method);
  });
}

std::optional<double> closed_form_seconds(const CompressedExchange& exchange) {
  double total = exchange.fixed_s + exchange.formula_s.value_or(0);
  for (const ExchangeStage& stage : exchange.stages) {
    const std::optional<double> form = closed_form_of(stage.collective);
    if (!form) {
      return std::nullopt;
    }
    total += *form;
  }
  return total;
}

Traffic exchange_traffic(const CompressedExchange& exchange) {
  Traffic result = traffic_of(sent(exchange));
  for (const ExchangeStage& stage : exchange.stages) {
    if (has_transfers(stage.collective.algorithm)) {
      result.steps += make_schedule(stage.collective).steps();
      continue;
    }
    const Traffic server = traffic(stage.collective);
    result.min_per_rank += server.min_per_rank;
    result.max_per_rank += server.max_per_rank;
    result.total += server.total;
    result.steps += server.steps;
    result.messages += server.messages;
  }
  return result;
}

double most_sent(const CompressedExchange& exchange, SentBytes& sent) {
  const ExchangeStage* stage = exchange.stages.size() == 1 ? &exchange.stages.front() : nullptr;
  const bool of_all = stage != nullptr && stage->collective.ranks == exchange.ranks &&
                      stage->header_bytes == 0 && SentBytes::keeps(stage->collective);
  return of_all ? sent.most(stage->collective) : exchange_traffic(exchange).max_per_rank;
}

std::vector<TransferRecord> exchange_transfers(const CompressedExchange& exchange,
                                               std::size_t limit, bool by_events) {
  std::vector<TransferRecord> transfers;
  std::int64_t first_step = 0;
  double start = 0;
  for (const ExchangeStage& stage : exchange.stages) {
    const std::vector<TransferRecord> locals = timed_transfers(stage.collective, limit, by_events);
    const std::int64_t steps = make_schedule(stage.collective).steps();
    const std::int64_t first_round = (steps - stage.rounds) / 2;
    const auto begin = static_cast<std::ptrdiff_t>(transfers.size());
    for (std::uint32_t group = 0; group < stage.groups; ++group) {
      for (TransferRecord transfer : locals) {
        const auto rounds = std::max<std::int64_t>(0, transfer.step - first_round);
        const double barriers_s = static_cast<double>(rounds) * stage.barrier_s;
        transfer.step += first_step;
        transfer.src = group * stage.group_stride + transfer.src * stage.rank_stride;
        transfer.dst = group * stage.group_stride + transfer.dst * stage.rank_stride;
        transfer.bytes += stage.header_bytes;
        transfer.start_s += start + barriers_s;
        transfer.end_s += start + barriers_s;
        transfers.push_back(transfer);
      }
    }
    std::ranges::stable_sort(transfers.begin() + begin, transfers.end(), {}, &TransferRecord::step);
    if (transfers.size() >= limit) {
      transfers.resize(limit);
      break;
    }
    first_step += steps;
    start += (by_events ? events(stage.collective) : max_plus(stage.collective)).seconds +
             stage.rounds * stage.barrier_s;
  }
  return transfers;
}

CompressTimes compress_times(const Compression& compression, const CompressedExchange& exchange,
                             std::uint32_t ranks) {
  CompressTimes times = unslowed_times(compression, exchange, ranks);
  for (double* part :
       {&times.select_s, &times.residual_s, &times.staging_s, &times.merge_s, &times.scatter_s}) {
    *part *= compression.slowdown;
  }
  return times;
}

double dense_ring_seconds(const Compression& compression, const GradientPart& gradient,
                          const Collective& base) {
  Collective ring = base;
  ring.op = Op::allreduce;
  ring.algorithm = AlgorithmId::ring;
  ring.bytes = dense_bytes(compression, gradient);
  return seconds(ring, automatic_method(ring));
}

} // namespace stepsim::collectives
