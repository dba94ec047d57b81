// The schedule is run step by step with this as its network: what the run submits becomes a
// message, or a timer where both ranks are on one host.
#include "programs/job/job_collective.hpp"

#include "base/error.hpp"

namespace stepsim::programs {

namespace {

// The network gives the times, so that no link has a cost of its own but the inner one.
collectives::Collective on_hosts(collectives::Collective collective, const NetworkJob& job,
                                 const JobNetwork& network,
                                 const std::vector<std::uint32_t>& ranks) {
  if (collective.algorithm == collectives::AlgorithmId::automatic ||
      collective.algorithm == collectives::AlgorithmId::parameter_server) {
    throw SimulationError(std::string(collectives::name(collective.algorithm)) +
                          " is no schedule that a network job can follow");
  }
  collective.ranks = static_cast<std::uint32_t>(ranks.size());
  collective.enter_s.clear();
  collective.links.all = {};
  collective.links.pairs.clear();
  collective.links.pairs_only = false;
  auto fabric = std::make_shared<links::RankFabric>();
  fabric->network = network.fabric;
  for (const std::uint32_t rank : ranks) {
    fabric->hosts.push_back(job.hosts[rank]);
  }
  collective.links.fabric = std::move(fabric);
  collective.options.chunking = collectives::Chunking::integer;
  const std::int64_t bytes = std::llround(collective.bytes);
  collective.bytes = static_cast<double>(bytes);
  collective.options.element_bytes = bytes % job.value_bytes == 0 ? job.value_bytes : 1;
  return collective;
}

} // namespace

JobCollective::JobCollective(collectives::Collective collective, const NetworkJob& job,
                             const JobNetwork& network, std::vector<std::uint32_t> ranks)
    : collective_(on_hosts(std::move(collective), job, network, ranks)), ranks_(std::move(ranks)),
      places_(job.workers), links_(collective_.links),
      schedule_(collectives::make_schedule(collective_)) {
  assert(job.hosts.size() >= job.workers && "ranks have hosts");
  for (std::uint32_t place = 0; place < ranks_.size(); ++place) {
    places_[ranks_[place]] = place;
  }
}

CollectiveMessages::CollectiveMessages(double now, JobCollective& of, const JobMessage& label,
                                       std::vector<JobMessage>& outbox,
                                       std::vector<double>& inner_free_s)
    : of_(of), label_(label), begin_s_(now), now_s_(now), own_s_(now), outbox_(outbox),
      inner_free_s_(inner_free_s),
      run_(of.collective_, of.schedule_, of.links_, Outlet{this}, false),
      received_(of.ranks_.size()), carried_(of.ranks_.size()) {
  run_.begin();
  for (std::uint32_t place = 0; place < of.ranks_.size(); ++place) {
    run_.enter(now, place);
  }
}

double CollectiveMessages::next_time() const {
  return std::min(inside_.next_or_never(), real(run_.next_time()));
}

void CollectiveMessages::advance(double now) {
  now_s_ = now;
  inside_.drain(now, [&](const auto& end) {
    ++events_;
    completed(now, end.id());
  });
  if (real(run_.next_time()) <= now) {
    ++events_;
    own_s_ = std::max(own(now), run_.next_time());
    run_.advance(own_s_);
  }
}

std::size_t CollectiveMessages::tree_of(const collectives::NextSend& send) const {
  const collectives::Phase& phase = of_.schedule_.phases[send.phase];
  // Streams of a tree are numbered by ranks, then trees.
  return std::holds_alternative<collectives::TreePair>(phase.rule)
             ? send.stream / static_cast<std::size_t>(phase.layout.size) % 2
             : kNoTree;
}

// How many workers' gradients the sum of this rank holds: its own and those it received. Of each
// source the last sum counts, because it contains the ones before.
std::uint32_t CollectiveMessages::contributions(std::uint32_t rank, std::size_t tree) const {
  std::uint32_t workers = 1;
  for (const Sum& sum : received_[rank]) {
    workers += sum.tree == tree || sum.tree == kNoTree ? sum.workers : 0;
  }
  return workers;
}

// Called by the run for every transfer that may start.
void CollectiveMessages::submit(const links::Transfer& transfer) {
  const collectives::NextSend& send = run_.sending(transfer.src);
  const std::size_t tree = tree_of(send);
  Sum& carried = carried_[transfer.src];
  carried = {transfer.src, send.reduce ? contributions(transfer.src, tree) : 0, tree};
  const auto& hosts = of_.collective_.links.fabric->hosts;
  if (hosts[transfer.src] == hosts[transfer.dst]) {
    double& free_s = inner_free_s_[of_.ranks_[transfer.src]];
    free_s = std::max(now_s_, free_s) + label_.stretch * transfer.bytes * transfer.per_byte_s;
    inside_.push(free_s + label_.stretch * transfer.latency_s, transfer.src);
    return;
  }
  JobMessage& message = outbox_.emplace_back(label_);
  message.part = send.reduce ? MessagePart::gradient : MessagePart::parameter;
  message.src = of_.ranks_[transfer.src];
  message.dst = of_.ranks_[transfer.dst];
  message.step =
      static_cast<std::uint32_t>(of_.schedule_.phases[send.phase].first_step + send.step);
  message.contributions = carried.workers;
  message.start_s = now_s_;
  message.size_bytes = std::llround(transfer.bytes);
}

// The transfer of this source has arrived, over the network or inside a host.
void CollectiveMessages::completed(double now, std::uint32_t src) {
  now_s_ = now;
  const std::uint32_t dst = run_.sending(src).dst;
  const Sum& carried = carried_[src];
  if (carried.workers > 0) {
    auto& sums = received_[dst];
    const auto known = std::ranges::find_if(
        sums, [&](const Sum& sum) { return sum.source == src && sum.tree == carried.tree; });
    if (known == sums.end()) {
      sums.push_back(carried);
    } else {
      *known = carried;
    }
  }
  run_.completed(own(now), src);
}

} // namespace stepsim::programs
