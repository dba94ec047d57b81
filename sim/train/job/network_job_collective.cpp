// The schedule of a piece is run step by step (event_run.hpp) with the job as its network: what the
// run submits becomes a message, or a timer where both ranks are on one host. A schedule depends on
// the bytes of a piece only and is made once per size.
#include "train/job/network_job_collective.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <variant>

#include "base/error.hpp"

namespace stepsim::train {

namespace {

// The job's collective on the ranks of its hosts: the network gives the times, so that no link has
// a cost of its own but the inner one.
coll::Collective collective_of(const NetworkJob& job, const JobNetwork& network) {
  coll::Collective collective = job.collective;
  if (collective.algorithm == coll::AlgorithmId::automatic ||
      collective.algorithm == coll::AlgorithmId::parameter_server) {
    throw SimulationError(std::string(coll::name(collective.algorithm)) +
                          " is no schedule that a network job can follow");
  }
  collective.ranks = job.workers;
  collective.enter_s.clear();
  collective.links.all = {};
  collective.links.pairs.clear();
  collective.links.pairs_only = false;
  auto ranks = std::make_shared<net::RankFabric>();
  ranks->network = network.fabric;
  ranks->hosts = job.hosts;
  collective.links.fabric = std::move(ranks);
  collective.options.chunking = coll::Chunking::integer;
  return collective;
}

} // namespace

CollectiveJob::CollectiveJob(const NetworkJob& job, const JobNetwork& network)
    : job_(job), workers_(job), collective_(collective_of(job, network)), links_(collective_.links),
      ready_iteration_(job.pieces.size() * job.workers, -1), ready_ranks_(job.pieces.size()),
      received_(job.workers), carried_(job.workers) {
  assert(job.hosts.size() >= job.workers && "ranks have hosts");
}

// Parts hold whole values where the bytes allow it.
const coll::Schedule& CollectiveJob::schedule_of(std::uint32_t piece) {
  const std::int64_t bytes = job_.pieces[piece].bytes;
  collective_.bytes = static_cast<double>(bytes);
  collective_.options.element_bytes = bytes % job_.value_bytes == 0 ? job_.value_bytes : 1;
  const auto found = schedules_.find(bytes);
  return found != schedules_.end()
             ? found->second
             : schedules_.emplace(bytes, coll::make_schedule(collective_)).first->second;
}

// Workers, transfers inside hosts, additions of the piece on the channel.
double CollectiveJob::next_time() const {
  double next = workers_.next_time();
  next = inside_.empty() ? next : std::min(next, inside_.next_time());
  return run_ ? std::min(next, run_->next_time()) : next;
}

// Until nothing of this instant is left: what ends may start what ends at once.
void CollectiveJob::advance(double now) {
  while (next_time() <= now) {
    while (!inside_.empty() && inside_.next_time() <= now) {
      ++events_;
      completed(now, inside_.pop().id());
    }
    if (run_ && run_->next_time() <= now) {
      ++events_;
      run_->advance(now);
      end_if_done(now);
    }
    ready_.clear();
    workers_.advance(now, ready_);
    for (const auto& [worker, piece, iteration] : ready_) {
      ++events_;
      ready_iteration_[piece * job_.workers + worker] = iteration;
      if (++ready_ranks_[piece] == job_.workers && job_.by_layer) {
        urgent_.emplace(job_.pieces[piece].first_layer, now, piece);
      }
      if (piece == piece_) {
        run_->enter(now, worker);
        end_if_done(now);
      }
    }
    next_piece(now);
  }
}

// First in, first out begins a piece as soon as one rank has it, since entries may differ; by layer
// waits for all ranks, since only then is it known which piece is the most urgent.
void CollectiveJob::next_piece(double now) {
  const std::vector<std::uint32_t>& order = workers_.order();
  while (piece_ == kNoPiece) {
    if (job_.by_layer) {
      if (urgent_.empty()) {
        return;
      }
      const std::uint32_t piece = std::get<2>(urgent_.top());
      urgent_.pop();
      start(now, piece);
    } else if (done_ < order.size() && ready_ranks_[order[done_]] > 0) {
      start(now, order[done_]);
    } else {
      return;
    }
  }
}

// Ranks whose gradient is ready enter now, the others when it is.
void CollectiveJob::start(double now, std::uint32_t piece) {
  piece_ = piece;
  schedule_ = &schedule_of(piece);
  run_.emplace(collective_, *schedule_, links_, Outlet{this}, false);
  for (auto& from : received_) {
    from.clear();
  }
  run_->begin();
  for (std::uint32_t rank = 0; rank < job_.workers; ++rank) {
    if (is_ready(piece, rank)) {
      run_->enter(now, rank);
    }
  }
  end_if_done(now);
}

// A piece is done when every rank has finished its schedule; it is then back at all workers at
// once.
void CollectiveJob::end_if_done(double now) {
  // A rank without anything to do still has to have its gradient.
  if (!run_->finished() || ready_ranks_[piece_] < job_.workers) {
    return;
  }
  const std::uint32_t piece = piece_;
  piece_ = kNoPiece;
  run_.reset();
  ready_ranks_[piece] = 0;
  if (++done_ == workers_.order().size() && iteration_ + 1 < job_.iterations) {
    done_ = 0;
    ++iteration_;
  }
  for (std::uint32_t rank = 0; rank < job_.workers; ++rank) {
    workers_.received(now, rank, piece);
  }
}

std::size_t CollectiveJob::tree_of(const coll::NextSend& send) const {
  const coll::Phase& phase = schedule_->phases[send.phase];
  // Streams of a tree are numbered by ranks, then trees.
  return std::holds_alternative<coll::TreePair>(phase.rule)
             ? send.stream / static_cast<std::size_t>(phase.layout.size) % 2
             : kNoTree;
}

// How many workers' gradients the sum of this rank holds: its own and those it received. Of each
// source the last sum counts, because it contains the ones before.
std::uint32_t CollectiveJob::contributions(std::uint32_t rank, std::size_t tree) const {
  std::uint32_t workers = 1;
  for (const Sum& sum : received_[rank]) {
    workers += sum.tree == tree || sum.tree == kNoTree ? sum.workers : 0;
  }
  return workers;
}

// Called by the run for every transfer that may start.
void CollectiveJob::submit(double now, const net::Transfer& transfer) {
  const coll::NextSend& send = run_->sending(transfer.src);
  const std::size_t tree = tree_of(send);
  Sum& carried = carried_[transfer.src];
  carried = {transfer.src, send.reduce ? contributions(transfer.src, tree) : 0, tree};
  if (job_.hosts[transfer.src] == job_.hosts[transfer.dst]) {
    inside_.push(now + transfer.latency_s + transfer.bytes * transfer.per_byte_s, transfer.src);
    return;
  }
  JobMessage& message = outbox_.emplace_back();
  message.iteration = iteration_;
  message.piece = piece_;
  message.part = send.reduce ? MessagePart::gradient : MessagePart::parameter;
  message.src = transfer.src;
  message.dst = transfer.dst;
  message.step = static_cast<std::uint32_t>(schedule_->phases[send.phase].first_step + send.step);
  message.contributions = carried.workers;
  message.start_s = now;
  message.size_bytes = std::llround(transfer.bytes);
}

void CollectiveJob::send(double /*now*/, std::vector<JobMessage>& messages) {
  messages.insert(messages.end(), outbox_.begin(), outbox_.end());
  outbox_.clear();
}

void CollectiveJob::delivered(double now, const JobMessage& message) {
  completed(now, message.src);
  next_piece(now);
}

// The transfer of this source has arrived, over the network or inside a host.
void CollectiveJob::completed(double now, std::uint32_t src) {
  const std::uint32_t dst = run_->sending(src).dst;
  const Sum& carried = carried_[src];
  if (carried.workers > 0) {
    auto& sums = received_[dst];
    const auto known = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
      return sum.source == src && sum.tree == carried.tree;
    });
    if (known == sums.end()) {
      sums.push_back(carried);
    } else {
      *known = carried;
    }
  }
  run_->completed(now, src);
  end_if_done(now);
}

} // namespace stepsim::train
