#include "files/keys/overlap_keys.hpp"

#include "program/training_program.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kOverlapExamples{R"({
  "schema_version": 1, "kind": "overlap", "name": "my-cluster", "source": "our own steps",
  "compute": 1.78, "startup_s": 4.6e-4, "per_byte_s": 1.15e-9})"};

} // namespace

std::vector<std::string_view> computing_kinds() {
  std::vector<std::string_view> words{"*"};
  for (std::size_t k = 0; k < program::kKindCount; ++k) {
    const auto kind = static_cast<program::Kind>(k);
    const bool sends = kind == program::Kind::allreduce || kind == program::Kind::reduce ||
                       kind == program::Kind::broadcast || kind == program::Kind::reduce_scatter ||
                       kind == program::Kind::allgather || kind == program::Kind::push ||
                       kind == program::Kind::pull;
    if (!sends) {
      words.push_back(program::kKinds[kind]);
    }
  }
  return words;
}

FileKind overlap_file() { return {"overlap", &kOverlap, kOverlapExamples}; }

} // namespace stepsim::io::keys
