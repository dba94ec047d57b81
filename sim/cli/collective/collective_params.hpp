#pragma once
// `--param NAME=VALUE`: the rare switches of a collective and of a compressed exchange, in a
// scenario keys of `communication` and of its `compression`.
#include <string>
#include <string_view>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"

namespace stepsim::cli {

struct CollectiveParams {
  coll::Options options;
  coll::Compression compression;
  std::vector<coll::MatrixShape> shapes;
  std::vector<std::string_view> given; // names that belong to compressions
};

// Throws UsageError with the nearest known name or word.
void apply_param(CollectiveParams& params, std::string_view text);
// One sentence with every name and its words.
[[nodiscard]] std::string params_help();

} // namespace stepsim::cli
