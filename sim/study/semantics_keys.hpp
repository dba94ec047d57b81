#pragma once
// The keys of a file of kind sparse_semantics (SPA 7).

#include "study/semantics_result.hpp"

namespace stepsim::study::keys {

// The keys of a vector, which is given by all its values or by its nonzero entries:
//   [10, 0, 0, 0, 3.5]  or  {"index": [0, 4], "value": [10, 3.5]}

using namespace io::rows;

inline constexpr std::array kIndex{
    integer("index", "Index of an entry, from 0.", io::at_least(0), "4")};
inline constexpr std::array kValue{number("value", "A value.").plain().example("3.5")};

inline constexpr std::array kEntriesKeys{
    list("index", kIndex, "Indices, strictly ascending.", "[0, 4]").required(),
    list("value", kValue, "As many values.", "[10, 3.5]").required()};

inline constexpr io::Key kEntries = object("vector", kEntriesKeys, "The entries that are not zero.",
                                           R"({"index": [0, 4], "value": [10, 3.5]})");

inline constexpr std::array kVectorForms{
    list("vector", kValue, "All values.", "[10, 0, 0, 0, 3.5]"), kEntries};

[[nodiscard]] constexpr io::Key vector_key(std::string_view name, std::string_view sentence) {
  return either(name, kVectorForms, sentence).example(R"({"index": [0, 4], "value": [10, 3.5]})");
}

inline constexpr std::array kVectorElement{vector_key("vector", "The vector of a rank.")};

// A key whose value is a list with one vector per rank.
[[nodiscard]] constexpr io::Key vectors_key(std::string_view name, std::string_view sentence) {
  return list(name, kVectorElement, sentence).example(R"([{"index": [0, 4], "value": [10, 3.5]}])");
}

using namespace io::rows;

inline constexpr double kMostSemanticRanks = 1 << 20;
inline constexpr double kMostDims = 0x1p32;

inline constexpr std::array kGradientsOfIteration{list("gradients", kVectorElement,
                                                       "The vectors of an iteration, one per rank.",
                                                       "[[10, 0, 0, 0, 3.5]]")};

inline constexpr std::array kSemanticsKeys{
    word("method", collectives::kSparseMethods, "How the selections are combined.").required(),
    integer("ranks", "Number of ranks.", io::between(1, kMostSemanticRanks), "4").required(),
    integer("dims", "Length of a dense vector.", io::between(1, kMostDims), "7").required(),
    integer("k", "Entries that a rank selects and a merge keeps, at most dims.",
            io::between(1, kMostDims - 1), "2")
        .required(),
    word("residual_mask", collectives::kResidualMasks,
         "Entries that return to the residual: final means those whose index is not in the result, "
         "and some may be lost; per_round means those that a merge cut.")
        .by_default("final"),
    list("gradients", kGradientsOfIteration, "Gradients by iteration and rank.",
         "[[[10, 0, 0, 0, 3.5]]]")
        .sizes(1)
        .required(),
    list("initial_residual", kVectorElement,
         "Residual of every rank before the first iteration. The default is zero.",
         "[[10, 0, 0, 0, 3.5]]"),
    object("expected", kSemanticsResult,
           "What should come out: any part of the result, where null stands for anything. "
           "The list of iterations may end early.",
           R"({"iterations": [{"final": {"index": [0, 4], "value": [10, 3.5]}}]})")
        .partial()};

inline constexpr io::Key kSemantics =
    object("sparse_semantics", kSemanticsKeys,
           "Gradients of a few ranks on which a sparse exchange with error feedback is run, and "
           "what should come out.");

// The first example is a tree whose merges lose an entry, the second one has dense vectors and
// residuals.
inline constexpr std::array<std::string_view, 2> kSemanticsExamples{
    R"({"schema_version": 1, "kind": "sparse_semantics", "name": "example-b", "method": "gtopk_tree", "ranks": 4, "dims": 7, "k": 2, "residual_mask": "final", "gradients": [[{"index": [0, 1], "value": [10, 3]}, {"index": [2, 5], "value": [9, 1]}, {"index": [1, 3], "value": [12, 1]}, {"index": [4, 6], "value": [7, 2]}]], "expected": {"iterations": [{"final": {"index": [0, 1], "value": [10, 12]}, "lost": [{"rank": 0, "index": 1, "value": 3}]}]}})",
    R"({"method": "topk", "ranks": 2, "dims": 3, "k": 1, "gradients": [[[1, 2, 0], [0, 3, 4]]], "initial_residual": [[0, 0, 1], {"index": [1], "value": [-2]}], "expected": {"iterations": [{"final": [0, 2, 4], "update": null}]}})"};
inline constexpr io::FileKind kSemanticsFile{"sparse_semantics", &kSemantics, kSemanticsExamples};

} // namespace stepsim::study::keys
