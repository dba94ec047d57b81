#pragma once
// The output of `stepsim semantics --json`. One table of keys makes the writer, the JSON Schema of
// kind sparse_semantics_result, and the schema of `expected` in a file of kind sparse_semantics.
#include <array>
#include <optional>
#include <span>

#include "collectives/operators/error_feedback.hpp"
#include "document/fields/schema.hpp"
#include "document/json.hpp"
#include "study/semantics_compare.hpp"
#include "study/semantics_file.hpp"

namespace stepsim::study {

namespace keys {

// The keys of the result, which are also the keys that `expected` may have.
extern const std::array<io::Key, 7> kSemanticsResult;

} // namespace keys

// The output for `file`. `steps` has one element per iteration of the file.
[[nodiscard]] io::Json semantics_tree(const SemanticsFile& file,
                                      std::span<const collectives::FeedbackStep> steps);

// Adds three keys to the output: `matches_expected` (null if the file has no `expected`),
// `difference` (null if there is none) and `warnings` (semantics_warnings()).
void add_comparison(io::Json& tree, const SemanticsFile& file,
                    const std::optional<Difference>& difference);

[[nodiscard]] io::FileKind semantics_result_kind();

} // namespace stepsim::study
