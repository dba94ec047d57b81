#pragma once
// The keys of a file of kind sparse_semantics (SPA 7).
#include <array>

#include "collectives/compress/compression.hpp"
#include "collectives/operators/global_top_k.hpp"
#include "document/fields/schema.hpp"
#include "study/semantics_result.hpp"
#include "study/vector_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr double kMostSemanticRanks = 1 << 20;
inline constexpr double kMostDims = 0x1p32;

inline constexpr std::array kGradientsOfIteration{
    list("gradients", kVectorElement, "The vectors of an iteration, one per rank.")
        .example("[[10, 0, 0, 0, 3.5]]")};

inline constexpr std::array kSemanticsKeys{
    word("method", collectives::kSparseMethods, "How the selections are combined.").required(),
    integer("ranks", "Number of ranks.")
        .in(io::between(1, kMostSemanticRanks))
        .example("4")
        .required(),
    integer("dims", "Length of a dense vector.")
        .in(io::between(1, kMostDims))
        .example("7")
        .required(),
    integer("k", "Entries that a rank selects and a merge keeps, at most dims.")
        .in(io::between(1, kMostDims - 1))
        .example("2")
        .required(),
    word("residual_mask", collectives::kResidualMasks,
         "Entries that return to the residual: final means those whose index is not in the result, "
         "and some may be lost; per_round means those that a merge cut.")
        .by_default("final"),
    list("gradients", kGradientsOfIteration, "Gradients by iteration and rank.")
        .sizes(1)
        .example("[[[10, 0, 0, 0, 3.5]]]")
        .required(),
    list("initial_residual", kVectorElement,
         "Residual of every rank before the first iteration. The default is zero.")
        .example("[[10, 0, 0, 0, 3.5]]"),
    object("expected", kSemanticsResult,
           "What should come out: any part of the result, where null stands for anything. "
           "The list of iterations may end early.")
        .partial()
        .example(R"({"iterations": [{"final": {"index": [0, 4], "value": [10, 3.5]}}]})")};

inline constexpr io::Key kSemantics =
    object("sparse_semantics", kSemanticsKeys,
           "Gradients of a few ranks on which a sparse exchange with error feedback is run, and "
           "what should come out.");

[[nodiscard]] io::FileKind semantics_file();

} // namespace stepsim::study::keys
