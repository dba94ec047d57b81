#pragma once
// Part of the evaluator `events`: the ranks that take part in an exchange together, and how many of
// them have entered. A group divides the ranks into parts; the ranks of one part exchange together
// (Group in training_program.hpp).

#include "programs/training_program.hpp"

namespace stepsim::programs {

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
