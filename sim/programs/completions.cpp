#include "programs/completions.hpp"

#include <numeric>

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

ExchangeParts::ExchangeParts(const Program& program)
    : program_(program), all_(program.ranks), index_(program.groups.size() * program.ranks) {
  std::iota(all_.begin(), all_.end(), 0U);
  for (std::size_t g = 0; g < program.groups.size(); ++g) {
    const std::vector<std::vector<std::uint32_t>>& parts = program.groups[g].parts;
    for (std::uint32_t p = 0; p < parts.size(); ++p) {
      for (const std::uint32_t rank : parts[p]) {
        index_[g * program.ranks + rank] = p;
      }
    }
  }
  std::uint32_t counters = 0;
  for (const Operation& operation : program.operations) {
    counter_.push_back(counters);
    counters += operation.group == kAllRanks
                    ? 1
                    : static_cast<std::uint32_t>(program.groups[operation.group].parts.size());
  }
  entered_.assign(counters, 0);
}

std::uint32_t ExchangeParts::index(const Operation& operation, std::uint32_t rank) const {
  return operation.group == kAllRanks
             ? 0
             : index_[std::size_t{operation.group} * program_.ranks + rank];
}

const std::vector<std::uint32_t>& ExchangeParts::of(const Operation& operation,
                                                    std::uint32_t rank) const {
  return operation.group == kAllRanks
             ? all_
             : program_.groups[operation.group].parts[index(operation, rank)];
}

bool ExchangeParts::enter(std::uint32_t o, std::uint32_t rank) {
  const Operation& operation = program_.operations[o];
  std::uint32_t& entered = entered_[counter_[o] + index(operation, rank)];
  if (++entered < of(operation, rank).size()) {
    return false;
  }
  entered = 0;
  return true;
}

} // namespace stepsim::programs
