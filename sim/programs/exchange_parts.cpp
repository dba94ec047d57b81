#include "programs/exchange_parts.hpp"

#include <numeric>

namespace stepsim::programs {

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
