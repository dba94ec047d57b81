#include "run/verdict.hpp"

#include "collectives/choose.hpp"
#include "scenario/compression/compressed_cost.hpp"

namespace stepsim::study {

namespace {

struct Subject {
  std::string_view word, subject;
};
constexpr std::array kSubjects{Subject{"compute", "Computing"},
                               Subject{"latency", "The start-up of messages"},
                               Subject{"bandwidth", "The bandwidth of the links"},
                               Subject{"reduction", "Adding gradients"},
                               Subject{"straggler", "The slowest worker"},
                               Subject{"compression", "Compression"},
                               Subject{"input", "Waiting, such as for batches to be read,"},
                               Subject{"server", "The parameter server"}};

} // namespace

std::string largest_of(const ExchangeShares& parts) {
  struct Part {
    double seconds;
    const char* word;
  };
  const std::array all{Part{parts.latency_s, "latency"}, Part{parts.bandwidth_s, "bandwidth"},
                       Part{parts.reduction_s, "reduction"},
                       Part{parts.compression_s, "compression"}};
  return std::ranges::max_element(all, {}, &Part::seconds)->word;
}

std::string_view subject_of(std::string_view bottleneck) {
  const auto* found = std::ranges::find(kSubjects, bottleneck, &Subject::word);
  return found == kSubjects.end() ? std::string_view() : found->subject;
}

// Each part is found from the planner's cost of the messages with the other parts set to zero or,
// where a cost cannot be taken apart so, from differences. The parts need not add up exactly: only
// their order matters.

namespace {

// Wire time without latency and without bytes tells the parts of a compressed exchange; the rest is
// the work of compressing.
ExchangeShares compressed_parts(const Scenario& scenario, const buckets::Plan& plan,
                                std::span<const ProgramUnit> units) {
  // Latency and bandwidth of a topology or of a measured cost are no two numbers.
  if (scenario.cluster.fabric || scenario.cluster.network.curve) {
    double wire = 0;
    double work = 0;
    for (const ProgramUnit& unit : units) {
      const BucketCost& cost = unit.cost;
      wire += cost.wire_s;
      work += cost.compress_s() + cost.encode_s + cost.decode_s + cost.merge_s + cost.scatter_s;
    }
    return {.bandwidth_s = wire, .compression_s = work};
  }
  const collectives::Collective whole = exchange_of(scenario);
  const double value_bytes = scenario.workload.bytes_per_value();
  const auto total = [&](double latency, double per_byte) {
    collectives::Collective part = whole;
    part.links.all.scale(latency, per_byte);
    const buckets::Cost cost = compressed_cost(scenario, part, value_bytes);
    double sum = 0;
    for (const buckets::Group& group : plan.groups) {
      sum += cost.seconds(static_cast<double>(group.bytes.value), 1);
    }
    return sum;
  };
  constexpr double kNothing = 1e-12; // of the time of a byte
  const double all = total(1, 1);
  const double latency = all - total(0, 1);
  const double bandwidth = all - total(1, kNothing);
  double work = all - latency - bandwidth;
  for (const ProgramUnit& unit : units) {
    work += unit.cost.compress_s() + unit.cost.encode_s + unit.cost.decode_s;
  }
  return {.latency_s = latency, .bandwidth_s = bandwidth, .compression_s = work};
}

// The collectives of a message: one, or a reduce and a broadcast.
std::vector<collectives::Collective> collectives_of_message(const Scenario& scenario) {
  std::vector<collectives::Collective> all{exchange_of(scenario)};
  if (scenario.communication.reduce_broadcast) {
    all.push_back(all.front());
    all.back().op = collectives::Op::broadcast;
  }
  return all;
}

// On a topology: messages of one byte take the latency, all others more by what their bytes cost,
// and what adding costs is a difference. The times of the messages are those of the run.
ExchangeShares fabric_parts(const Scenario& scenario, const buckets::Plan& plan,
                            std::span<const ProgramUnit> units) {
  const bool rooted = scenario.communication.reduce_broadcast;
  double all = 0;
  for (const ProgramUnit& unit : units) {
    all += unit.cost.wire_s + unit.cost.broadcast_s;
  }
  double latency = 0;
  double reduction = 0;
  for (const collectives::Collective& collective : collectives_of_message(scenario)) {
    programs::ExchangeSplit parts(collective, scenario.method);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const BucketCost& cost = units[g].cost;
      const Bytes bytes = plan.groups[g].bytes;
      latency += parts.startup(bytes);
      reduction += parts.reduction(bytes, cost.on_wire_s + (rooted ? 0 : cost.back_on_wire_s));
    }
  }
  return {.latency_s = latency, .bandwidth_s = all - reduction - latency, .reduction_s = reduction};
}

// Latency and transfer as the model of the library has them.
ExchangeShares library_parts(const nccl::LibraryQuestion& asked, const buckets::Plan& plan) {
  nccl::LibraryQuestion question = asked;
  double latency = 0;
  double transfer = 0;
  for (const buckets::Group& group : plan.groups) {
    question.bytes = static_cast<double>(group.bytes.value);
    const nccl::LibraryRecord record = nccl::predict(question);
    latency += record.latency_part_s;
    transfer += record.transfer_part_s;
  }
  return {.latency_s = latency, .bandwidth_s = transfer};
}

// The algorithm and the block are those of the first message.
ExchangeShares exchange_parts(const Scenario& scenario, const buckets::Plan& plan,
                              std::span<const ProgramUnit> units) {
  if (is_compressed(scenario)) {
    return compressed_parts(scenario, plan, units);
  }
  if (const auto& question = scenario.communication.question) {
    return library_parts(*question, plan);
  }
  if (scenario.cluster.network.curve) {
    double all = units.empty() ? 1 : 0; // a measured curve has no parts
    for (const ProgramUnit& unit : units) {
      all += unit.cost.on_wire_s;
    }
    return {.bandwidth_s = all};
  }
  if (scenario.cluster.fabric) {
    return fabric_parts(scenario, plan, units);
  }
  ExchangeShares shares;
  for (collectives::Collective collective : collectives_of_message(scenario)) {
    collective.bytes = static_cast<double>(plan.groups.front().bytes.value);
    // Without this, `auto` could choose another algorithm, and an optimal block another size, once
    // a part is taken away, so that the parts would be those of different exchanges.
    collective = collectives::with_chosen_algorithm(std::move(collective));
    if (const auto blocks = collectives::resolve_blocks(collective)) {
      collective.options.block = Bytes{static_cast<std::int64_t>(blocks->block_bytes)};
    }
    const auto total = [&](double latency, double per_byte, double reduction) { // each 1 or 0
      collectives::Collective part = collective;
      part.links.all.scale(latency, per_byte);
      if (part.links.two_level) {
        part.links.two_level->intra.scale(latency, per_byte);
        if (auto& nvls = part.links.two_level->nvls) {
          nvls->startup_s *= latency;
          nvls->per_byte_s *= per_byte;
        }
      }
      part.reduction_s_per_byte *= reduction;
      double sum = 0;
      const buckets::Cost cost = programs::planner_cost(part);
      for (const buckets::Group& group : plan.groups) {
        sum += cost.seconds(static_cast<double>(group.bytes.value), 1);
      }
      return sum;
    };
    shares.latency_s += total(1, 0, 0);
    shares.bandwidth_s += total(0, 1, 0);
    shares.reduction_s += collective.reduction_s_per_byte > 0 ? total(0, 0, 1) : 0.0;
  }
  return shares;
}

} // namespace

std::string largest_part(const Scenario& scenario, const buckets::Plan& plan,
                         std::span<const ProgramUnit> units) {
  if (is_star(scenario)) {
    return largest_part(on_alpha_beta(scenario), plan, units);
  }
  ExchangeShares parts = exchange_parts(scenario, plan, units);
  // What every message and its copies through the host take beside the network. Times of compressed
  // exchanges and those of a fabric hold it.
  const buckets::LinearCost extra = extra_cost(scenario);
  const bool fabric = scenario.cluster.fabric != nullptr;
  const double startup = extra.startup_s * static_cast<double>(plan.groups.size());
  double copies = 0;
  for (const buckets::Group& group : plan.groups) {
    copies += extra.per_byte_s * static_cast<double>(group.bytes.value);
  }
  parts.latency_s += startup;
  parts.bandwidth_s += copies - (fabric ? startup : 0);
  parts.compression_s -= is_compressed(scenario) ? copies + (fabric ? 0 : startup) : 0;
  return largest_of(parts);
}

} // namespace stepsim::study
