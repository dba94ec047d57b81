#pragma once
// Which ranks take part in an exchange together, and how many of them have entered. Groups are
// groups of ranks here, and a part is the ranks of a group that exchange together (Group of
// training_program.hpp). Evaluator `events`.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

class ExchangeParts {
public:
  explicit ExchangeParts(const Program& program);

  [[nodiscard]] const std::vector<std::uint32_t>& all() const { return all_; }
  // The part of the group of `operation` that `rank` belongs to, all ranks for an operation without
  // a group. The reference is valid as long as this and the program.
  [[nodiscard]] const std::vector<std::uint32_t>& of(const Operation& operation,
                                                     std::uint32_t rank) const;
  // The rank enters the exchange with number `o`; true for the last rank of its part, after which
  // the count starts anew.
  [[nodiscard]] bool enter(std::uint32_t o, std::uint32_t rank);

private:
  [[nodiscard]] std::uint32_t index(const Operation& operation, std::uint32_t rank) const;

  const Program& program_;
  std::vector<std::uint32_t> all_;
  std::vector<std::uint32_t> index_;   // [group * ranks + rank]
  std::vector<std::uint32_t> counter_; // per operation, into entered_
  std::vector<std::uint32_t> entered_; // per operation and part
};

} // namespace stepsim::program
