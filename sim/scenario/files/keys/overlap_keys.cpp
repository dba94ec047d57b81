#include "scenario/files/keys/overlap_keys.hpp"

#include "programs/training_program.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kOverlapExamples{R"({
  "schema_version": 1, "kind": "overlap", "name": "my-cluster", "source": "our own steps",
  "compute": 1.78, "startup_s": 4.6e-4, "per_byte_s": 1.15e-9})"};

} // namespace

std::vector<std::string_view> computing_kinds() {
  std::vector<std::string_view> words{"*"};
  for (std::size_t k = 0; k < programs::kKindCount; ++k) {
    const auto kind = static_cast<programs::Kind>(k);
    const bool sends = kind == programs::Kind::allreduce || kind == programs::Kind::reduce ||
                       kind == programs::Kind::broadcast ||
                       kind == programs::Kind::reduce_scatter ||
                       kind == programs::Kind::allgather || kind == programs::Kind::push ||
                       kind == programs::Kind::pull;
    if (!sends) {
      words.push_back(programs::kKinds[kind]);
    }
  }
  return words;
}

FileKind overlap_file() { return {"overlap", &kOverlap, kOverlapExamples}; }

} // namespace stepsim::io::keys
