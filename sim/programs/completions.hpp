#pragma once
// Part of the evaluator `events`: keeps which instances of operations have ended, and which
// watchers wait for an instance to end.
//
// Instances of an operation on a rank end in the order of iterations, except on streams of
// discipline `at_once`, on which a later instance may overtake. Such instances are kept in a short
// list until the earlier ones have ended.

#include "programs/training_program.hpp"

#include <utility>

namespace stepsim::programs {

class Completions {
public:
  // Watchers are numbered 0 .. `watchers` - 1. Each may watch one wait at a time.
  Completions(const Program& program, std::size_t watchers);

  // Whether `wait` of an operation of `rank` in `iteration` is satisfied.
  [[nodiscard]] bool satisfied(const Wait& wait, std::uint32_t rank, std::int64_t iteration) const {
    const std::int64_t needed = iteration - wait.distance;
    if (needed < 0 || iteration >= wait.until) {
      return true;
    }
    const std::int64_t done = wait.scope == Scope::all
                                  ? done_everywhere_[wait.operation]
                                  : done_[std::size_t{wait.operation} * ranks_ + rank];
    return needed < done || (!early_.empty() && ended_early(wait.operation, needed));
  }

  // Registers `watcher` for `wait`: the next call below that may satisfy the wait reports it.
  void watch(std::uint32_t watcher, const Wait& wait, std::uint32_t rank);

  // These record that an instance has ended: finish() on one rank, in the order of iterations, and
  // finish_everywhere() on all ranks, in any order. Both append to `awake` the watchers that should
  // check their wait again and that are then no longer registered.
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
  std::vector<std::int32_t> done_everywhere_; // [operation]: least of done_ over the ranks
  std::vector<std::uint32_t> lagging_;        // [operation]: ranks with that least number
  std::vector<std::uint32_t> watched_;        // [operation * ranks + rank]: first watcher
  std::vector<std::uint32_t> watched_all_;    // [operation]: first watcher of all ranks
  std::vector<std::uint32_t> next_;           // [watcher]: next watcher in the same list
  std::vector<std::pair<std::uint32_t, std::int64_t>> early_; // (operation, iteration) on all ranks
};

// Part of the evaluator `events`: the ranks that take part in an exchange together, and how many of
// them have entered. A group divides the ranks into parts; the ranks of one part exchange together
// (Group in training_program.hpp).

class ExchangeParts {
public:
  explicit ExchangeParts(const Program& program);

  [[nodiscard]] const std::vector<std::uint32_t>& all() const { return all_; }
  // The part, in the group of `operation`, to which `rank` belongs; all ranks if `operation` has no
  // group. The reference is valid as long as this object and the program.
  [[nodiscard]] const std::vector<std::uint32_t>& of(const Operation& operation,
                                                     std::uint32_t rank) const;
  // Records that `rank` enters exchange number `o`. Returns true if it is the last rank of its
  // part; the count of the part then restarts at 0.
  [[nodiscard]] bool enter(std::uint32_t o, std::uint32_t rank);

private:
  [[nodiscard]] std::uint32_t index(const Operation& operation, std::uint32_t rank) const;

  const Program& program_;
  std::vector<std::uint32_t> all_;
  std::vector<std::uint32_t> index_;   // [group * ranks + rank]
  std::vector<std::uint32_t> counter_; // [operation]: position of its first part in entered_
  std::vector<std::uint32_t> entered_; // ranks that have entered, per operation and part
};

} // namespace stepsim::programs
