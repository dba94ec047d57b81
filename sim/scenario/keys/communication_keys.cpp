// The words of a key follow from the table of algorithms: an algorithm that is added there is a
// word here.
#include "scenario/keys/communication_keys.hpp"

#include <algorithm>

namespace stepsim::study::keys {

namespace {

using collectives::AlgorithmId;

// auto is no algorithm and is added where it is a word.
template <class Take> std::vector<std::string_view> names(Take take) {
  std::vector<std::string_view> words;
  for (const AlgorithmId algorithm : collectives::valid_algorithms(collectives::Op::allreduce)) {
    if (algorithm != AlgorithmId::automatic && take(algorithm)) {
      words.push_back(collectives::name(algorithm));
    }
  }
  return words;
}

} // namespace

std::vector<std::string_view> candidates() {
  return names([](AlgorithmId) { return true; });
}

// `auto`, `library` and `calibrated` stand last, behind the algorithms that they choose from or
// replace.
std::vector<std::string_view> collectives() {
  std::vector<std::string_view> words = candidates();
  words.push_back(collectives::name(AlgorithmId::automatic));
  words.push_back(kLibrary);
  words.push_back(kCalibrated);
  return words;
}

// A two-level collective reduces to one rank of a node and broadcasts from it.
std::vector<std::string_view> algorithms_in_node() {
  return names([](AlgorithmId algorithm) {
    const bool is_flat =
        !collectives::is_two_level(algorithm) &&
        collectives::find_algorithm(collectives::Op::reduce, algorithm) != nullptr &&
        collectives::find_algorithm(collectives::Op::broadcast, algorithm) != nullptr;
    return is_flat || algorithm == collectives::kNvls; // of collnet
  });
}

// The level between nodes is itself a flat all-reduce, so that algorithms with two levels, and
// those that are taken by name only, are left out.
std::vector<std::string_view> algorithms_between_nodes() {
  return names([](AlgorithmId algorithm) {
    return collectives::find_algorithm(collectives::Op::allreduce, algorithm)->candidate ==
           collectives::Candidate::always;
  });
}

} // namespace stepsim::study::keys
