#include "programs/job/network_job_collective.hpp"

#include <algorithm>
#include <numeric>

namespace stepsim::programs {

namespace {

std::vector<std::uint32_t> all_ranks(std::uint32_t workers) {
  std::vector<std::uint32_t> ranks(workers);
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

} // namespace

CollectiveJob::CollectiveJob(const NetworkJob& job, const JobNetwork& network)
    : job_(job), workers_(job), collective_(job.collective, job, network, all_ranks(job.workers)),
      ready_iteration_(job.pieces.size() * job.workers, -1), ready_ranks_(job.pieces.size()) {}

// Workers, transfers inside hosts, additions of the pieces on the channel.
double CollectiveJob::next_time() const {
  double next = workers_.next_time();
  for (const CollectiveMessages& run : runs_) {
    next = std::min(next, run.next_time());
  }
  return next;
}

// Until nothing of this instant is left: what ends may start what ends at once.
void CollectiveJob::advance(double now) {
  while (next_time() <= now) {
    for (CollectiveMessages& run : runs_) {
      run.advance(now);
    }
    end_finished(now);
    ready_.clear();
    workers_.advance(now, ready_);
    for (const auto& [worker, piece, iteration] : ready_) {
      ++events_;
      ready_iteration_[piece * job_.workers + worker] = iteration;
      if (++ready_ranks_[piece] == job_.workers && job_.by_layer) {
        urgent_.emplace(job_.pieces[piece].first_layer, now, piece);
      }
      if (CollectiveMessages* run = run_of(piece)) {
        run->enter(now, worker);
        end_finished(now);
      }
    }
    start_next(now);
  }
}

CollectiveMessages* CollectiveJob::run_of(std::uint32_t piece) {
  const auto run = std::ranges::find(
      runs_, piece, [](const CollectiveMessages& each) { return each.label().piece; });
  return run != runs_.end() ? &*run : nullptr;
}

// First in, first out begins a piece as soon as one rank has it, since entries may differ; by layer
// waits for all ranks, since only then is it known which piece is the most urgent.
void CollectiveJob::start_next(double now) {
  const std::vector<std::uint32_t>& order = workers_.order();
  if (job_.by_layer) {
    while (!urgent_.empty() && bytes_in_flight_ < job_.credit_bytes) {
      const std::uint32_t piece = std::get<2>(urgent_.top());
      urgent_.pop();
      start(now, piece);
    }
    return;
  }
  while (runs_.empty() && done_ < order.size() && ready_ranks_[order[done_]] > 0) {
    start(now, order[done_]);
  }
}

// Ranks whose gradient is ready enter now, the others when it is.
void CollectiveJob::start(double now, std::uint32_t piece) {
  JobMessage label;
  label.iteration = iteration_;
  label.piece = piece;
  CollectiveMessages& run =
      runs_.emplace_back(collective_, job_.pieces[piece].bytes, label, outbox_);
  bytes_in_flight_ += static_cast<double>(job_.pieces[piece].bytes);
  for (std::uint32_t rank = 0; rank < job_.workers; ++rank) {
    if (is_ready(piece, rank)) {
      run.enter(now, rank);
    }
  }
  end_finished(now);
}

// A piece is done when every rank has finished its schedule; it is then back at all workers at
// once.
void CollectiveJob::end_finished(double now) {
  for (auto run = runs_.begin(); run != runs_.end();) {
    if (!run->finished()) {
      ++run;
      continue;
    }
    const std::uint32_t piece = run->label().piece;
    bytes_in_flight_ -= static_cast<double>(job_.pieces[piece].bytes);
    events_ += run->events();
    run = runs_.erase(run);
    ready_ranks_[piece] = 0;
    if (++done_ == workers_.order().size() && iteration_ + 1 < job_.iterations) {
      done_ = 0;
      ++iteration_;
    }
    for (std::uint32_t rank = 0; rank < job_.workers; ++rank) {
      workers_.received(now, rank, piece);
    }
  }
}

void CollectiveJob::send(double /*now*/, std::vector<JobMessage>& messages) {
  messages.insert(messages.end(), outbox_.begin(), outbox_.end());
  outbox_.clear();
}

void CollectiveJob::delivered(double now, const JobMessage& message) {
  run_of(message.piece)->delivered(now, message.src);
  end_finished(now);
  start_next(now);
}

} // namespace stepsim::programs
