#pragma once
// Which instances of operations have ended, and who waits for one of them to end. Evaluator
// `events`.
//
// Instances of an operation on a rank end in the order of iterations, except on streams `at_once`,
// where a later one may overtake; those are kept in a short list until the earlier ones end.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

class Completions {
public:
  // `watchers` are numbered from 0; each may watch one thing at a time.
  Completions(const Program& program, std::size_t watchers);

  // Whether what `wait` of `rank` means in `iteration` has ended.
  [[nodiscard]] bool satisfied(const Wait& wait, std::uint32_t rank, std::int64_t iteration) const {
    const std::int64_t needed = iteration - wait.distance;
    if (needed < 0) {
      return true;
    }
    const std::int64_t done = wait.scope == Scope::all
                                  ? done_everywhere_[wait.operation]
                                  : done_[std::size_t{wait.operation} * ranks_ + rank];
    return needed < done || (!early_.empty() && ended_early(wait.operation, needed));
  }

  // `watcher` is reported by the next call of finish() that may satisfy the wait.
  void watch(std::uint32_t watcher, const Wait& wait, std::uint32_t rank);

  // The instance ended: `finish` on one rank, in the order of iterations; `finish_everywhere` on
  // all ranks, in any order. Both append the watchers to look again; a watcher is reported once.
  void finish(std::uint32_t operation, std::uint32_t rank, std::int64_t iteration,
              std::vector<std::uint32_t>& awake);
  void finish_everywhere(std::uint32_t operation, std::int64_t iteration,
                         std::vector<std::uint32_t>& awake);

private:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool ended_early(std::uint32_t operation, std::int64_t iteration) const;
  void wake(std::uint32_t& list, std::vector<std::uint32_t>& awake);

  std::size_t ranks_;
  std::vector<std::int32_t> done_;            // [operation * ranks + rank]: iterations that ended
  std::vector<std::int32_t> done_everywhere_; // least of them, per operation
  std::vector<std::uint32_t> lagging_;        // ranks at the least, per operation
  std::vector<std::uint32_t> watched_;        // first watcher of [operation * ranks + rank]
  std::vector<std::uint32_t> watched_all_;    // first watcher of all ranks of an operation
  std::vector<std::uint32_t> next_;           // per watcher
  std::vector<std::pair<std::uint32_t, std::int64_t>> early_; // operation, iteration; all ranks
};

} // namespace stepsim::program
