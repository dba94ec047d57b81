// Words come from the tables of algorithms and compressions: what is added there is a word here.
#include "collective/collective_keys.hpp"

#include <algorithm>

#include "coll/algorithms.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kExamples{
    R"({
  "schema_version": 1, "kind": "collective", "name": "ring of 8",
  "op": "allreduce", "algorithm": "ring", "ranks": 8, "bytes": 100000000,
  "network": {"latency_s": 1e-05, "bandwidth_Bps": 1.25e9, "reduction_Bps": 1e10}})",
    R"({
  "op": "allreduce", "algorithm": "topk", "ranks": 16, "bytes": "4MB",
  "topology": "star_16", "compression": {"density": 0.001}})"};

} // namespace

std::vector<std::string_view> collective_candidates() {
  std::vector<std::string_view> words;
  for (const coll::AlgorithmRow& row : coll::algorithm_table()) {
    if (std::ranges::find(words, coll::name(row.algorithm)) == words.end()) {
      words.push_back(coll::name(row.algorithm));
    }
  }
  return words;
}

// An algorithm may serve several operations and is one word. The methods of compression stand
// behind the dense algorithms; a collective that compresses nothing is one of those.
std::vector<std::string_view> collective_algorithms() {
  std::vector<std::string_view> words = collective_candidates();
  words.push_back(coll::name(coll::AlgorithmId::automatic));
  words.push_back(kLibrary);
  for (const coll::CompressionRow& row : coll::compression_table()) {
    if (row.method != coll::CompressionMethod::none) {
      words.push_back(row.name);
    }
  }
  return words;
}

io::FileKind collective_file() { return {"collective", &kCollectiveFile, kExamples}; }

} // namespace stepsim::study::keys
