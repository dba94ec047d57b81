#pragma once
// `--param NAME=VALUE`: the rare switches of a collective and of a compressed exchange, in a
// scenario keys of `communication` and of its `compression`.
#include <string>
#include <string_view>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"

namespace stepsim::cli {

// What all --param flags together set. Names of compressions are kept in `given`, so that one which
// no chosen method reads can be refused.
struct CollectiveParams {
  coll::Options options;
  coll::Compression compression;
  std::vector<coll::MatrixShape> shapes;
  std::vector<std::string_view> given; // names that belong to compressions
};

// Sets one NAME=VALUE; a later one replaces an earlier one of the same name. Throws UsageError with
// the nearest known name or word, or with the range of the number.
void apply_param(CollectiveParams& params, std::string_view text);
// One sentence for the help of --param, with every name, the words or the kind of number it takes,
// and the defaults of collectives.
[[nodiscard]] std::string params_help();

} // namespace stepsim::cli
