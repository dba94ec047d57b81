// The first example is a tree whose merges lose an entry, the second one has dense vectors and
// residuals.
#include "study/semantics_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kSemanticsExamples{
    R"({"schema_version": 1, "kind": "sparse_semantics", "name": "example-b", "method": "gtopk_tree", "ranks": 4, "dims": 7, "k": 2, "residual_mask": "final", "gradients": [[{"index": [0, 1], "value": [10, 3]}, {"index": [2, 5], "value": [9, 1]}, {"index": [1, 3], "value": [12, 1]}, {"index": [4, 6], "value": [7, 2]}]], "expected": {"iterations": [{"final": {"index": [0, 1], "value": [10, 12]}, "lost": [{"rank": 0, "index": 1, "value": 3}]}]}})",
    R"({"method": "topk", "ranks": 2, "dims": 3, "k": 1, "gradients": [[[1, 2, 0], [0, 3, 4]]], "initial_residual": [[0, 0, 1], {"index": [1], "value": [-2]}], "expected": {"iterations": [{"final": [0, 2, 4], "update": null}]}})"};

} // namespace

io::FileKind semantics_file() { return {"sparse_semantics", &kSemantics, kSemanticsExamples}; }

} // namespace stepsim::study::keys
