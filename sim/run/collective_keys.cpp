// Words come from the tables of algorithms and compressions: what is added there is a word here.
#include "run/collective_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kCollectiveExamples{
    R"({
  "schema_version": 1, "kind": "collective", "name": "ring of 8",
  "op": "allreduce", "algorithm": "ring", "ranks": 8, "bytes": 100000000,
  "network": {"calibration": "10g-tcp", "reduction_Bps": 1e10}})",
    R"({
  "op": "allreduce", "algorithm": "topk", "ranks": 16, "bytes": "4MB",
  "topology": "star_16", "compression": {"k": 1000}})"};

} // namespace

std::vector<std::string_view> collective_candidates() {
  std::vector<std::string_view> words;
  for (const collectives::AlgorithmRow& row : collectives::algorithm_table()) {
    if (std::ranges::find(words, collectives::name(row.algorithm)) == words.end()) {
      words.push_back(collectives::name(row.algorithm));
    }
  }
  return words;
}

// An algorithm may serve several operations and is one word. The methods of compression stand
// behind the dense algorithms; a collective that compresses nothing is one of those.
std::vector<std::string_view> collective_algorithms() {
  std::vector<std::string_view> words = collective_candidates();
  words.push_back(collectives::name(collectives::AlgorithmId::automatic));
  words.push_back(kLibrary);
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    if (row.method != collectives::CompressionMethod::none) {
      words.push_back(row.name);
    }
  }
  return words;
}

io::FileKind collective_file() { return {"collective", &kCollectiveFile, kCollectiveExamples}; }

} // namespace stepsim::study::keys
