// The messages come from the schedule that max_plus sweeps. Each step starts where the ranks are
// ready for it, so that a late rank delays those that wait for it and no others.
#include "collectives/evaluate/measured_steps.hpp"

#include "base/collected.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/formula/blocks.hpp"
#include "links/profile/profile_curve.hpp"

namespace stepsim::collectives {

namespace {

struct Role { // of a rank in one step
  std::uint32_t to{}, from{};
  bool sends = false, receives = false;
};

// A rank that only sends or only receives has the link for itself; one that does both shares its
// host.
double message_seconds(const Role& role, double bytes, const MeasuredSteps& steps) {
  if (!role.sends || !role.receives) {
    return links::curve_seconds(steps.one_way, bytes);
  }
  return links::curve_seconds(role.to == role.from ? steps.exchange : steps.shift, bytes);
}

std::vector<Role> roles_of(std::span<const StepMessage> step, std::size_t ranks) {
  std::vector<Role> roles(ranks);
  for (const StepMessage& message : step) {
    Role& src = roles[message.src];
    Role& dst = roles[message.dst];
    if (src.sends || dst.receives) {
      throw SimulationError("times of steps are measured with one message out and one in; rank " +
                            std::to_string(src.sends ? message.src : message.dst) +
                            " has more in step " + std::to_string(message.step));
    }
    src.sends = dst.receives = true;
    src.to = message.dst;
    dst.from = message.src;
  }
  return roles;
}

// The messages of one step, from the times at which the ranks are ready for it.
void advance(std::span<const StepMessage> step, const MeasuredSteps& steps, RankTimes& ranks,
             std::span<TransferRecord> timed) {
  std::vector<double>& ready = ranks.finish_s;
  const std::vector<Role> roles = roles_of(step, ready.size());
  const std::vector<double> before = ready;
  std::vector<double> added(ready.size());
  std::vector<double> begun(ready.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < step.size(); ++i) {
    const StepMessage& message = step[i];
    const double start = std::max(before[message.src], before[message.dst]);
    const double end = start + std::max(message_seconds(roles[message.src], message.bytes, steps),
                                        message_seconds(roles[message.dst], message.bytes, steps));
    if (!timed.empty()) {
      std::tie(timed[i].start_s, timed[i].end_s) = std::pair(start, end);
    }
    const double reply = message.answered ? steps.reply_s.value_or(0) : 0;
    ready[message.src] = std::max(ready[message.src], end + reply);
    ready[message.dst] = std::max(ready[message.dst], end);
    added[message.dst] = message.added_s; // after everything that the step brings
    begun[message.src] = std::min(begun[message.src], start);
    begun[message.dst] = std::min(begun[message.dst], start);
  }
  for (std::size_t rank = 0; rank < ready.size(); ++rank) {
    ready[rank] += added[rank];
    ranks.transfer_s[rank] += std::max(0.0, ready[rank] - begun[rank]); // 0: idle in this step
  }
}

std::vector<TransferRecord> all_transfers(const Collective& collective) {
  return list_transfers(collective, std::numeric_limits<std::size_t>::max());
}

std::vector<StepMessage> messages_of(const Collective& collective,
                                     std::span<const TransferRecord> transfers) {
  const std::vector<double> gamma = reduction_costs(collective);
  return base::collected<StepMessage>(transfers, [&](const TransferRecord& transfer) {
    return StepMessage{.step = transfer.step,
                       .src = transfer.src,
                       .dst = transfer.dst,
                       .bytes = transfer.bytes,
                       .added_s = transfer.reduce ? transfer.bytes * gamma[transfer.dst] : 0,
                       .answered = is_answered(collective, transfer.step, transfer.reduce)};
  });
}

const links::CollectiveCurve* find_curve(const links::NetworkProfile& profile, std::string_view op,
                                         std::string_view algorithm) {
  const auto found = std::ranges::find_if(profile.collectives, [&](const auto& curve) {
    return curve.op == op && curve.algorithm == algorithm &&
           curve.start_up == links::StartUp::alone;
  });
  return found == profile.collectives.end() ? nullptr : &*found;
}

std::vector<double> entries(const Collective& collective) {
  std::vector<double> ready = collective.enter_s;
  ready.resize(collective.ranks, 0);
  return ready;
}

// Returns the seconds of `lp` by the formulas above, for `bytes` > 0 in blocks of `block` bytes;
// `gamma` is in s per byte.
double measured_pipeline(Op op, double ranks, double bytes, double block, double gamma,
                         const MeasuredSteps& steps) {
  const double size = std::min(block, bytes);
  const double blocks = bytes / size;
  const double tau = steps.block_latency_s + size * steps.per_byte_s;
  const double hop = links::curve_seconds(steps.one_way, size);
  const double adding = (ranks - 1) * size * gamma;
  if (op == Op::allreduce) {
    return ranks * hop + (std::max(blocks, ranks) + blocks - 2) * tau + adding;
  }
  return (ranks - 1) * hop + (blocks - 1) * tau + (op == Op::reduce ? adding : 0);
}

} // namespace

const links::LinkClass* link_of_ranks(const links::NetworkProfile& profile) {
  const links::LinkClass* host = nullptr;
  for (const links::LinkClass& link : profile.links) {
    if (link.name == "network") {
      return &link;
    }
    if (link.name == "host" && link.duplex_exchange && link.duplex_shift) {
      host = &link;
    }
  }
  return host;
}

std::optional<MeasuredSteps> measured_steps(const links::NetworkProfile& profile) {
  const links::LinkClass* link = link_of_ranks(profile);
  if (link == nullptr || !link->duplex_exchange || !link->duplex_shift) {
    return std::nullopt;
  }
  const auto curve = [&](std::string_view op, std::string_view algorithm, double factor) {
    if (const links::CollectiveCurve* found = find_curve(profile, op, algorithm)) {
      return found->segments;
    }
    return std::vector<links::CurveSegment>{{.from_bytes = 0,
                                             .to_bytes = std::numeric_limits<double>::infinity(),
                                             .startup_s = link->latency_s + link->delay_s,
                                             .per_byte_s = factor * link->per_byte_s}};
  };
  MeasuredSteps steps;
  steps.one_way = curve("pingpong", "pingpong", 1);
  steps.exchange = curve("sendrecv", "exchange", *link->duplex_exchange);
  steps.shift = curve("sendrecv", "shift", *link->duplex_shift);
  steps.reply_s = link->reply_s;
  steps.block_latency_s = link->further_block_s();
  steps.per_byte_s = link->per_byte_s;
  return steps;
}

bool takes_measured_steps(const Collective& collective) {
  const Links& links = collective.links;
  if (!links.measured || links.fabric || links.two_level || !links.pairs.empty() ||
      links.pairs_only) {
    return false;
  }
  const AlgorithmId id = collective.algorithm;
  return id == AlgorithmId::lp ||
         (id != AlgorithmId::automatic && id != AlgorithmId::parameter_server &&
          !is_two_level(id) && algorithm(id).block_streams == 0);
}

// All of mst that is not added, and the scatter that a broadcast by be starts with.
bool is_answered(const Collective& collective, std::int64_t step, bool added) {
  if (collective.algorithm == AlgorithmId::mst) {
    return !added;
  }
  return collective.algorithm == AlgorithmId::be && collective.op == Op::broadcast &&
         step < std::bit_width(collective.ranks - 1);
}

// Steps are groups of messages with one number.
RankTimes step_times(std::span<const StepMessage> messages, const MeasuredSteps& steps,
                     std::vector<double> ready, std::span<TransferRecord> timed) {
  RankTimes ranks{std::move(ready), {}};
  ranks.transfer_s.resize(ranks.finish_s.size());
  for (std::size_t begin = 0; begin < messages.size();) {
    std::size_t end = begin;
    while (end < messages.size() && messages[end].step == messages[begin].step) {
      ++end;
    }
    advance(messages.subspan(begin, end - begin), steps, ranks,
            timed.empty() ? timed : timed.subspan(begin, end - begin));
    begin = end;
  }
  return ranks;
}

std::vector<TransferRecord> timed_transfers(const Collective& collective, std::size_t limit,
                                            bool by_events) {
  if (by_events || !takes_measured_steps(collective)) {
    return list_transfers(collective, limit, by_events);
  }
  std::vector<TransferRecord> transfers = all_transfers(collective);
  (void)step_times(messages_of(collective, transfers), *collective.links.measured,
                   entries(collective), transfers);
  transfers.resize(std::min(transfers.size(), limit));
  return transfers;
}

Evaluation measured_evaluation(const Collective& collective) {
  assert(takes_measured_steps(collective) && "times of steps were measured");
  const MeasuredSteps& steps = *collective.links.measured;
  Evaluation result;
  std::vector<double> ready = entries(collective);
  if (is_empty(collective)) {
    result.ranks = {ready, std::vector<double>(ready.size())};
  } else if (collective.algorithm == AlgorithmId::lp) {
    // The formulas know one entry for all: the last.
    const std::vector<double> gamma = reduction_costs(collective);
    const double seconds = measured_pipeline(collective.op, collective.ranks, collective.bytes,
                                             resolve_blocks(collective)->block_bytes,
                                             *std::ranges::max_element(gamma), steps);
    const double end = *std::ranges::max_element(ready) + seconds;
    result.ranks = {std::vector<double>(ready.size(), end),
                    std::vector<double>(ready.size(), seconds)};
    result.messages = traffic(collective).messages;
  } else {
    const std::vector<StepMessage> messages = messages_of(collective, all_transfers(collective));
    result.messages = messages.size();
    result.ranks = step_times(messages, steps, std::move(ready));
  }
  result.seconds = *std::ranges::max_element(result.ranks.finish_s);
  return result;
}

} // namespace stepsim::collectives
