#include "layers/layer_units.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stepsim::layers;

namespace {

Workload named(const std::vector<std::string>& names) {
  Workload workload;
  for (const std::string& name : names) {
    workload.layers.edit().push_back({name, {}, {}});
  }
  return workload;
}

std::vector<std::uint32_t> begins(const Workload& workload, std::int64_t blocks) {
  return unit_begins(workload, {.policy = WrappingPolicy::block, .blocks = blocks});
}

} // namespace

TEST_CASE("units of blocks: layers between blocks stay apart, the last unit may be smaller") {
  const Workload model = named({"embed", "h.0.a", "h.0.b", "h.1.a", "h.1.b", "h.2.a", "mid",
                                "h.3.a", "h.4.a", "norm", "head"});
  using Begins = std::vector<std::uint32_t>;
  CHECK(begins(model, 1) == Begins{0, 1, 3, 5, 6, 7, 8, 9});
  CHECK(begins(model, 2) == Begins{0, 1, 5, 6, 7, 9});
  CHECK(begins(model, 4) == Begins{0, 1, 6, 7, 9});
  CHECK(begins(model, 100) == begins(model, 4));
  CHECK(block_counts(model) == std::vector<std::int64_t>{1, 2, 4}); // of five
}

TEST_CASE("units of blocks: a layer is a block where no name has a number") {
  const Workload model = named({"a", "a", "b", "c"});
  CHECK(begins(model, 1) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(begins(model, 3) == std::vector<std::uint32_t>{0, 3});
  CHECK(block_counts(model) == std::vector<std::int64_t>{1, 2});
  CHECK(block_counts(named({"a"})) == std::vector<std::int64_t>{1});
}
