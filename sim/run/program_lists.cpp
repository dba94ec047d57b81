#include "run/run_program.hpp"

namespace stepsim::study {

namespace {

using programs::Kind;
using programs::Operation;
using programs::OperationTimes;
using programs::OperationType;
using programs::Program;

// Of all ranks: the first start and the last end.
std::pair<double, double> span_of(const OperationTimes& times, std::int64_t iteration,
                                  std::uint32_t operation) {
  const std::size_t at = times.at(times.row(iteration), operation, 0);
  const double later = times.later_s(iteration);
  const auto first = static_cast<std::ptrdiff_t>(at);
  const auto last = static_cast<std::ptrdiff_t>(at + times.width());
  return {*std::min_element(times.start.begin() + first, times.start.begin() + last) + later,
          *std::max_element(times.end.begin() + first, times.end.begin() + last) + later};
}

bool is_exchange(const Operation& operation) { return operation.type == OperationType::exchange; }

// How long the rank that computes longest waits for the exchanges of an iteration; the other ranks
// also wait for that rank. The last iteration is followed by none that computing could hide behind,
// so that the one before it counts.
class Waiting {
public:
  Waiting(const Program& program, const OperationTimes& times)
      : times_(times), iteration_(std::max<std::int64_t>(0, times.iterations - 2)) {
    std::vector<std::uint32_t> computes;
    for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
      const Operation& each = program.operations[o];
      if (each.type == OperationType::compute &&
          program.streams[each.stream].name != programs::kCopyStream) {
        computes.push_back(o);
      }
    }
    double latest_s = 0;
    for (std::uint32_t rank = 0; rank < times.width(); ++rank) {
      for (const std::uint32_t o : computes) {
        if (times.end[times.at(iteration_, o, rank)] > latest_s) {
          latest_s = times.end[times.at(iteration_, o, rank)];
          rank_ = rank;
        }
      }
    }
    for (std::int64_t t = iteration_; t < times.iterations; ++t) {
      for (const std::uint32_t o : computes) {
        const std::size_t at = times.at(t, o, rank_);
        computing_.emplace_back(times.start[at], times.end[at]);
      }
    }
    std::ranges::sort(computing_);
  }

  // Behind `until_s`, which becomes the end of the exchange if that is later: messages of a bucket
  // may be under way at once.
  [[nodiscard]] double of(std::uint32_t exchange, double& until_s) const {
    const std::size_t at = times_.at(iteration_, exchange, rank_);
    const double start = std::max(times_.start[at], until_s);
    const double end = times_.end[at];
    if (end <= start) {
      return 0;
    }
    until_s = end;
    double idle = end - start;
    const auto first =
        std::ranges::lower_bound(computing_, start, {}, &std::pair<double, double>::second);
    for (auto each = first; each != computing_.end() && each->first < end; ++each) {
      idle -= std::max(0.0, std::min(end, each->second) - std::max(start, each->first));
    }
    constexpr double kRounding = 1e-12;
    return idle > kRounding * end ? idle : 0;
  }

private:
  const OperationTimes& times_;
  std::int64_t iteration_;
  std::uint32_t rank_ = 0;
  std::vector<std::pair<double, double>> computing_; // start and end, ascending
};

// All-gathers at the head of an iteration belong to the one before: they end a period behind those
// of the last iteration.
double behind_iteration_s(const Program& program, const OperationTimes& times,
                          std::uint32_t operation) {
  const Operation& gather = program.operations[operation];
  if (gather.kind != Kind::allgather || times.iterations < 2) {
    return 0;
  }
  const auto before = std::span(program.operations).first(operation);
  const bool reduced = std::ranges::any_of(before, [&](const Operation& each) {
    return each.kind == Kind::reduce_scatter && each.unit == gather.unit;
  });
  return reduced ? 0
                 : programs::latest_marker_end(times, times.iterations - 1) -
                       programs::latest_marker_end(times, times.iterations - 2);
}

// The time in seconds at which the first operation of an iteration starts on any rank.
double iteration_start_s(const Program& program, const OperationTimes& times,
                         std::int64_t iteration) {
  double start = std::numeric_limits<double>::infinity();
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    start = std::min(start, span_of(times, iteration, o).first);
  }
  return start;
}

// The buckets of a plan, without times.
std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                  std::span<const ProgramUnit> units) {
  std::vector<Bucket> buckets;
  buckets.reserve(plan.groups.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const buckets::Group& group = plan.groups[g];
    Bucket& bucket = buckets.emplace_back();
    bucket.index = bucket.unit = static_cast<std::int64_t>(g);
    const auto layers = static_cast<std::int64_t>(scenario.workload.layers.size());
    bucket.first = layers;
    bucket.bytes = group.bytes;
    bucket.items = static_cast<std::int64_t>(group.items.size());
    for (const std::uint32_t item : group.items) {
      const layers::Gradient& gradient = scenario.workload.gradients[item];
      const std::int64_t number = layers - gradient.layer; // from 1, in the order of backward
      bucket.first = std::min(bucket.first, number);
      bucket.last = std::max(bucket.last, number);
      bucket.elements += gradient.elements;
    }
    bucket.algorithm = units[g].cost.algorithm;
  }
  return buckets;
}

} // namespace

double latest_work_end_s(const Program& program, const OperationTimes& times) {
  double latest = programs::latest_marker_end(times, times.iterations - 1);
  const std::size_t width = times.width();
  // A fifo stream ends no operation before it has ended that of the iteration before.
  for (std::int64_t t = program.only_fifo() ? times.iterations - 1 : 0; t < times.iterations; ++t) {
    const std::size_t row = times.at(times.row(t), 0, 0);
    const double later = times.later_s(t);
    for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
      for (std::size_t at = row + o * width; at < row + (o + 1) * width; ++at) {
        const bool works = program.operations[o].type != OperationType::delay;
        latest = works ? std::max(latest, times.end[at] + later) : latest;
      }
    }
  }
  return latest;
}

std::vector<Iteration> program_iterations(std::int64_t count, const std::vector<double>& ends,
                                          const std::vector<double>& alone_ends) {
  const auto seconds = [&](const std::vector<double>& of, std::int64_t t) {
    const auto i = static_cast<std::size_t>(t);
    const bool to_next = of.size() > static_cast<std::size_t>(count);
    return to_next ? of[i + 1] - of[i] : of[i] - (t > 0 ? of[i - 1] : 0);
  };
  std::vector<Iteration> iterations;
  for (std::int64_t t = 0; t < count; ++t) {
    Iteration& each = iterations.emplace_back();
    each.index = t;
    each.iteration_time_s = seconds(ends, t);
    each.exposed_communication_s = std::max(0.0, each.iteration_time_s - seconds(alone_ends, t));
    each.applied_gradient = t;
  }
  return iterations;
}

void add_spans(const Program& program, const OperationTimes& times,
               std::vector<Iteration>& iterations) {
  for (Iteration& each : iterations) {
    each.start_s = iteration_start_s(program, times, each.index);
    each.exchange_start_s = std::numeric_limits<double>::infinity();
    for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
      const auto [start, end] = span_of(times, each.index, o);
      if (is_exchange(program.operations[o])) {
        each.exchange_start_s = std::min(each.exchange_start_s, start);
        each.exchange_end_s = std::max(each.exchange_end_s, end);
      } else if (program.operations[o].type == OperationType::compute) {
        each.compute_end_s = std::max(each.compute_end_s, end);
      }
    }
    if (each.exchange_end_s == 0) { // nothing is sent
      each.exchange_start_s = each.exchange_end_s = each.compute_end_s;
    }
  }
}

// The last exchange of a bucket counts: that of the last micro-batch.
std::vector<Bucket> program_buckets(const Scenario& scenario, const ScenarioProgram& made,
                                    const OperationTimes& times) {
  if (made.sharded) {
    return {};
  }
  std::vector<Bucket> buckets = plain_buckets(scenario, made.plan, made.units);
  const std::int64_t last = times.iterations - 1;
  const double origin = iteration_start_s(made.program, times, last);
  const Waiting waiting(made.program, times);
  std::vector<double> waited_until_s(buckets.size());
  const auto behind = [&](std::uint32_t o) { return behind_iteration_s(made.program, times, o); };
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const Operation& each = made.program.operations[o];
    if (!is_exchange(each) || each.unit < 0 ||
        made.units[static_cast<std::size_t>(each.unit)].owner) {
      continue;
    }
    Bucket& bucket = buckets[static_cast<std::size_t>(each.unit)];
    const auto [start, end] = span_of(times, last, o);
    if (each.kind != Kind::allgather) {
      bucket.start_s = start - origin;
      bucket.ready_s = 0;
      for (const programs::Wait& wait : made.program.waits_of(o)) {
        bucket.ready_s =
            std::max(bucket.ready_s, span_of(times, last, wait.operation).second - origin);
      }
      // Parts of a group start on their own, and where each rank enters by itself the first one
      // does.
      if (each.group != programs::kAllRanks || each.entry == programs::Entry::each) {
        bucket.ready_s = std::min(bucket.ready_s, bucket.start_s);
      }
    }
    bucket.end_s = std::max(bucket.end_s, end - origin + behind(o));
    bucket.exposed_s += waiting.of(o, waited_until_s[static_cast<std::size_t>(each.unit)]);
  }
  std::ranges::stable_sort(buckets, {}, &Bucket::start_s); // as they were launched
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    buckets[g].index = static_cast<std::int64_t>(g);
  }
  return buckets;
}

std::vector<UnitResult> program_units(const ScenarioProgram& made, const OperationTimes& times) {
  std::vector<UnitResult> units;
  if (!made.sharded) {
    return units;
  }
  const std::int64_t last = times.iterations - 1;
  const double origin = iteration_start_s(made.program, times, last);
  for (const ProgramUnit& unit : made.units) {
    units.push_back(
        {.index = static_cast<std::int64_t>(units.size()),
         .first = unit.layers.front() + 1,
         .last = unit.layers.back() + 1,
         .parameters = unit.parameters,
         .gather_s = unit.gather.seconds,
         .reduce_s = unit.reduce.seconds,
         .live_from_s = unit.parameters > 0 ? std::numeric_limits<double>::infinity() : 0,
         .live_to_s = 0});
  }
  for (const programs::LiveSpan& span : made.live) {
    if (span.kind == programs::LiveKind::parameters) {
      UnitResult& unit = units[span.unit];
      const auto on_first_rank = [&](const std::vector<double>& all, std::uint32_t operation) {
        return all[times.at(times.row(last), operation, 0)] + times.later_s(last);
      };
      unit.live_from_s = std::min(unit.live_from_s, on_first_rank(times.start, span.from) - origin);
      unit.live_to_s = std::max(unit.live_to_s, on_first_rank(times.end, span.to) - origin);
    }
  }
  return units;
}

// A compute of a unit is cut into its layers by their seconds. Of several micro-batches the forward
// is that of the first and the backward that of the last; of several steps both are of the last.
std::vector<LayerResult> program_layers(const Scenario& scenario, const ScenarioProgram& made,
                                        const OperationTimes& times) {
  const auto& layers = scenario.workload.layers;
  std::vector<LayerResult> results(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    results[l].name = layers[l].name;
  }
  const auto go_forward = [&](std::size_t first, std::size_t behind, double t) {
    for (std::size_t l = first; l < behind; ++l) {
      results[l].forward_start_s = t;
      results[l].forward_end_s = t += layers[l].forward.value;
    }
    return t;
  };
  const auto go_backward = [&](std::size_t first, std::size_t behind, double t) {
    for (std::size_t l = behind; l-- > first;) {
      results[l].backward_start_s = t;
      results[l].backward_end_s = t += layers[l].backward.value;
    }
  };
  const std::int64_t last = times.iterations - 1;
  const double origin = iteration_start_s(made.program, times, last);
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const Operation& each = made.program.operations[o];
    if (each.kind == Kind::step) { // the last one counts
      const double start = span_of(times, last, o).first - origin;
      go_backward(0, layers.size(), go_forward(0, layers.size(), start));
    }
    if (each.first_layer < 0) {
      continue;
    }
    const auto first = static_cast<std::size_t>(each.first_layer);
    const auto behind = static_cast<std::size_t>(each.last_layer) + 1;
    const auto [start, end] = span_of(times, last, o);
    if (each.kind == Kind::forward && each.micro_batch <= 0) {
      (void)go_forward(first, behind, start - origin);
    } else if (each.kind == Kind::backward) {
      go_backward(first, behind, start - origin);
    } else if (is_exchange(each) && each.unit >= 0 &&
               ((each.kind != Kind::allgather && each.kind != Kind::broadcast) ||
                !scenario.training.sharding.any())) {
      const double done = end - origin + behind_iteration_s(made.program, times, o);
      for (const std::uint32_t l : made.units[static_cast<std::size_t>(each.unit)].layers) {
        results[l].gradient_done_s = std::max(results[l].gradient_done_s, done);
      }
    }
  }
  return results;
}

// Utilization is over the whole run, the heat of a bucket over the time of its own exchange: how
// full the link is while that bucket is sent.
void fill_links(const Scenario& scenario, std::span<const ProgramUnit> units, Result& result) {
  if (!scenario.cluster.fabric) {
    return;
  }
  std::vector<links::LinkUse> uses;
  for (const ProgramUnit& unit : units) {
    links::add_uses(unit.cost.links, static_cast<double>(scenario.training.iterations), uses);
  }
  const links::Fabric& fabric = scenario.cluster.fabric->fabric();
  uses.resize(fabric.links.size());
  for (std::size_t link = 0; link < uses.size(); ++link) {
    result.links.push_back(link_result(fabric.links[link], uses[link], *result.summary.makespan_s));
  }
  for (const links::LinkId link : busiest_links(result.links, kHotLinks)) {
    LinkHeat& heat = result.heat.emplace_back(LinkHeat{.link = link});
    for (std::size_t g = 0; g < units.size(); ++g) {
      const BucketCost& cost = units[g].cost;
      const double took = cost.exchange_s() + cost.broadcast_s;
      const double bytes = cost.links.empty() ? 0 : cost.links[link].bytes;
      heat.of_bucket.push_back(took > 0 ? bytes / (fabric.links[link].bandwidth_Bps * took) : 0);
    }
  }
}

} // namespace stepsim::study
