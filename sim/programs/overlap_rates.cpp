#include "programs/overlap_rates.hpp"

namespace stepsim::programs {

OverlapRates::OverlapRates(const Program& program, std::size_t fifo_streams)
    : ranks_(program.ranks), streams_(fifo_streams),
      exchange_slowdown_(program.interference.exchange), runs_(fifo_streams * ranks_),
      exchanges_(ranks_, 0), computes_(ranks_, 0), computing_(ranks_, false),
      is_touched_(ranks_, false), data_of_(ranks_) {}

void OverlapRates::touch(std::uint32_t rank) {
  if (!is_touched_[rank]) {
    is_touched_[rank] = true;
    touched_.push_back(rank);
  }
}

void OverlapRates::start_compute(std::uint32_t run, double seconds, double slowdown) {
  runs_[run] = {};
  runs_[run].left = seconds;
  runs_[run].overlapped = slowdown;
  runs_[run].active = true;
  const auto rank = static_cast<std::uint32_t>(run % ranks_);
  ++computes_[rank];
  touch(rank);
}

void OverlapRates::end_compute(std::uint32_t run) {
  runs_[run].active = false;
  const auto rank = static_cast<std::uint32_t>(run % ranks_);
  --computes_[rank];
  touch(rank);
}

void OverlapRates::start_exchange(std::uint32_t rank) {
  ++exchanges_[rank];
  touch(rank);
}

void OverlapRates::end_exchange(std::uint32_t rank) {
  --exchanges_[rank];
  touch(rank);
}

void OverlapRates::start_data(std::uint32_t run, double seconds,
                              std::span<const std::uint32_t> part) {
  runs_[run] = {};
  runs_[run].left = seconds;
  runs_[run].active = true;
  runs_[run].data = true;
  runs_[run].part = part;
  new_data_.push_back(run);
}

void OverlapRates::end_data(std::uint32_t run) {
  runs_[run].active = false;
  for (const std::uint32_t rank : runs_[run].part) {
    std::erase(data_of_[rank], run);
  }
}

void OverlapRates::change(std::uint32_t run, double slowdown, double now, std::vector<Due>& due) {
  Run& each = runs_[run];
  if (!each.active || each.slowdown == slowdown) {
    return;
  }
  if (each.slowdown > 0) {
    each.left = std::max(0.0, each.left - (now - each.since) / each.slowdown);
  }
  each.since = now;
  each.slowdown = slowdown;
  due.push_back({.run = run, .time = now + each.left * slowdown});
}

// Ranks first, because data phases count the ranks that compute.
void OverlapRates::settle(double now, std::vector<Due>& due) {
  for (const std::uint32_t rank : touched_) {
    is_touched_[rank] = false;
    const bool computing = computes_[rank] > 0;
    if (computing != computing_[rank]) {
      computing_[rank] = computing;
      for (const std::uint32_t run : data_of_[rank]) {
        runs_[run].computing_ranks += computing ? 1U : ~0U; // minus one
        changed_data_.push_back(run);
      }
    }
    for (std::size_t stream = 0; stream < streams_; ++stream) {
      const auto run = static_cast<std::uint32_t>(stream * ranks_ + rank);
      if (!runs_[run].data) {
        change(run, exchanges_[rank] > 0 ? runs_[run].overlapped : 1, now, due);
      }
    }
  }
  touched_.clear();
  for (const std::uint32_t run : new_data_) {
    for (const std::uint32_t rank : runs_[run].part) {
      data_of_[rank].push_back(run);
      runs_[run].computing_ranks += computing_[rank] ? 1 : 0;
    }
  }
  changed_data_.insert(changed_data_.end(), new_data_.begin(), new_data_.end());
  new_data_.clear();
  for (const std::uint32_t run : changed_data_) {
    if (runs_[run].data) {
      change(run, runs_[run].computing_ranks > 0 ? exchange_slowdown_ : 1, now, due);
    }
  }
  changed_data_.clear();
}

} // namespace stepsim::programs
