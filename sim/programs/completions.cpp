#include "programs/completions.hpp"

#include <algorithm>

namespace stepsim::programs {

Completions::Completions(const Program& program, std::size_t watchers)
    : ranks_(program.ranks), done_(program.operations.size() * ranks_, 0),
      done_everywhere_(program.operations.size(), 0),
      lagging_(program.operations.size(), program.ranks), watched_(done_.size(), kNobody),
      watched_all_(program.operations.size(), kNobody), next_(watchers, kNobody) {}

bool Completions::ended_early(std::uint32_t operation, std::int64_t iteration) const {
  return std::ranges::find(early_, std::pair{operation, iteration}) != early_.end();
}

void Completions::watch(std::uint32_t watcher, const Wait& wait, std::uint32_t rank) {
  std::uint32_t& list = wait.scope == Scope::all
                            ? watched_all_[wait.operation]
                            : watched_[std::size_t{wait.operation} * ranks_ + rank];
  next_[watcher] = list;
  list = watcher;
}

void Completions::wake(std::uint32_t& list, std::vector<std::uint32_t>& awake) {
  for (; list != kNobody; list = next_[list]) {
    awake.push_back(list);
  }
}

void Completions::finish(std::uint32_t operation, std::uint32_t rank, std::int64_t iteration,
                         std::vector<std::uint32_t>& awake) {
  const std::size_t first = std::size_t{operation} * ranks_;
  const std::int32_t before = done_[first + rank];
  done_[first + rank] = static_cast<std::int32_t>(iteration + 1); // the tail skips all but the last
  wake(watched_[first + rank], awake);
  std::int32_t& everywhere = done_everywhere_[operation];
  if (before > everywhere || --lagging_[operation] > 0) {
    return;
  }
  // Every rank has moved on since the least was counted.
  const std::int32_t* begin = done_.data() + first;
  everywhere = *std::min_element(begin, begin + ranks_);
  lagging_[operation] = static_cast<std::uint32_t>(std::count(begin, begin + ranks_, everywhere));
  wake(watched_all_[operation], awake);
}

void Completions::finish_everywhere(std::uint32_t operation, std::int64_t iteration,
                                    std::vector<std::uint32_t>& awake) {
  early_.emplace_back(operation, iteration);
  // The instances in a row that have ended are counted, the others stay in the list.
  for (auto next = early_.end();
       (next = std::ranges::find(
            early_, std::pair{operation, std::int64_t{done_everywhere_[operation]}})) !=
       early_.end();) {
    const std::int64_t counted = next->second;
    early_.erase(next);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      finish(operation, rank, counted, awake);
    }
  }
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    wake(watched_[std::size_t{operation} * ranks_ + rank], awake);
  }
  wake(watched_all_[operation], awake);
}

} // namespace stepsim::programs
