#pragma once
// What `stepsim semantics --json` writes. The rows of its keys are the only list of them: the
// writer, the JSON Schema of kind sparse_semantics_result, and that of `expected` in a file of kind
// sparse_semantics are made from the rows.
#include <array>
#include <optional>
#include <span>

#include "coll/operators/error_feedback.hpp"
#include "lab/semantics_compare.hpp"
#include "lab/semantics_file.hpp"
#include "json/fields/schema.hpp"
#include "json/json.hpp"

namespace stepsim::study {

namespace keys {

// The keys that `expected` may have.
extern const std::array<io::Key, 7> kSemanticsResult;

} // namespace keys

// `steps`: one per iteration of the file.
[[nodiscard]] io::Json semantics_tree(const SemanticsFile& file,
                                      std::span<const coll::FeedbackStep> steps);

// Adds what the comparison with `expected` found, null without `expected`, and the warnings.
void add_comparison(io::Json& tree, const SemanticsFile& file,
                    const std::optional<Difference>& difference);

[[nodiscard]] io::FileKind semantics_result_kind();

} // namespace stepsim::study
