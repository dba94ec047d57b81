// The words of `collective.hpp` as they stand in files and flags.
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "coll/algorithms.hpp"
#include "coll/collective.hpp"

namespace stepsim::coll {
namespace {

constexpr std::array<std::pair<Op, std::string_view>, 6> kOps{{
    {Op::broadcast, "broadcast"},
    {Op::reduce, "reduce"},
    {Op::allreduce, "allreduce"},
    {Op::reduce_scatter, "reduce_scatter"},
    {Op::allgather, "allgather"},
    {Op::allgatherv, "allgatherv"},
}};

constexpr std::array<std::pair<Method, std::string_view>, 3> kMethods{{
    {Method::closed_form, "closed_form"},
    {Method::max_plus, "max_plus"},
    {Method::events, "events"},
}};

template <class Value, std::size_t N>
std::string_view word_of(const std::array<std::pair<Value, std::string_view>, N>& words,
                         Value value) {
  for (const auto& [known, word] : words) {
    if (known == value) {
      return word;
    }
  }
  assert(false && "every enumerator has a word");
  return {};
}

template <class Value, std::size_t N>
std::optional<Value> parse(const std::array<std::pair<Value, std::string_view>, N>& words,
                           std::string_view text) {
  for (const auto& [value, word] : words) {
    if (word == text) {
      return value;
    }
  }
  return std::nullopt;
}

} // namespace

std::string_view name(Op op) { return word_of(kOps, op); }
std::string_view name(AlgorithmId algorithm) { return kAlgorithmIds[algorithm]; }
std::string_view name(Method method) { return word_of(kMethods, method); }
std::optional<Method> parse_method(std::string_view word) { return parse(kMethods, word); }
std::optional<Op> parse_op(std::string_view word) { return parse(kOps, word); }
std::optional<AlgorithmId> parse_algorithm(std::string_view word) {
  return kAlgorithmIds.find(word);
}

std::vector<AlgorithmId> valid_algorithms(Op op) {
  std::vector<AlgorithmId> algorithms;
  for (const AlgorithmRow& row : algorithm_table()) {
    if (row.op == op) {
      algorithms.push_back(row.algorithm);
    }
  }
  return algorithms;
}

} // namespace stepsim::coll
