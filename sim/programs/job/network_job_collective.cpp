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

// Workers, transfers inside hosts, additions of the piece on the channel.
double CollectiveJob::next_time() const {
  const double next = workers_.next_time();
  return run_ ? std::min(next, run_->next_time()) : next;
}

// Until nothing of this instant is left: what ends may start what ends at once.
void CollectiveJob::advance(double now) {
  while (next_time() <= now) {
    if (run_) {
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
  JobMessage label;
  label.iteration = iteration_;
  label.piece = piece;
  run_.emplace(collective_, job_.pieces[piece].bytes, label, outbox_);
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
  if (!run_->finished()) {
    return;
  }
  const std::uint32_t piece = piece_;
  piece_ = kNoPiece;
  events_ += run_->events();
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

void CollectiveJob::send(double /*now*/, std::vector<JobMessage>& messages) {
  messages.insert(messages.end(), outbox_.begin(), outbox_.end());
  outbox_.clear();
}

void CollectiveJob::delivered(double now, const JobMessage& message) {
  run_->delivered(now, message.src);
  end_if_done(now);
  next_piece(now);
}

} // namespace stepsim::programs
