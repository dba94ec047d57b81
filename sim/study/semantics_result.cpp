// One table of rows per object of the result, from the innermost outwards.

#include "study/semantics_result.hpp"

#include "document/fields/written.hpp"
#include "document/reader.hpp"
#include "study/semantics_keys.hpp"

#include <cmath>
#include <ranges>

namespace stepsim::study {

namespace {

using namespace io::rows;
using collectives::FeedbackStep;
using io::Json;
using io::Written;
using keys::vector_key;

template <auto Member> constexpr auto count(std::string_view sentence) {
  return io::row<Member>(sentence).in(io::at_least(0)).example("0");
}

Json vector_tree(const collectives::SparseVector& vector) {
  return io::Object{{"index", io::list_of(vector.indices)}, {"value", io::list_of(vector.values)}};
}

Json vectors_tree(std::span<const collectives::SparseVector> vectors) {
  return io::write_each(vectors, vector_tree);
}

constexpr auto kMerge = std::to_array<Written<collectives::Merge>>({
    count<&collectives::Merge::rank>("Rank that merges."),
    count<&collectives::Merge::from>("Rank whose list it gets."),
    {vector_key("result", "The first k entries of the sum of both lists.").required(),
     [](const collectives::Merge& merge) { return vector_tree(merge.result); }},
});

struct Round {
  std::size_t round{};
  std::vector<collectives::Merge> merges;
};

constexpr auto kRound = std::to_array<Written<Round>>({
    count<&Round::round>("Number of the round, from 0."),
    io::list_row<&Round::merges, kMerge, "A merge.">("Merges of the round by rank.").example("[]"),
});

constexpr auto kLost = std::to_array<Written<collectives::LostEntry>>({
    count<&collectives::LostEntry::rank>("Rank that sent the entry."),
    count<&collectives::LostEntry::index>("Index of the entry."),
    io::row<&collectives::LostEntry::value>("Value of the entry.").example("3"),
});
constexpr auto kResiduals = std::to_array<Written<FeedbackStep>>({
    {keys::vectors_key("final", "Residuals of the ranks under mask final.").required(),
     [](const FeedbackStep& step) { return vectors_tree(step.final.residuals); }},
    {keys::vectors_key("per_round", "Residuals of the ranks under mask per_round.").required(),
     [](const FeedbackStep& step) { return vectors_tree(step.per_round.residuals); }},
});

constexpr auto kErrors = std::to_array<Written<FeedbackStep>>({
    {number("final", "The error under mask final.").example("3").required(),
     [](const FeedbackStep& step) { return Json(step.final.conservation_error); }},
    {number("per_round", "The error under mask per_round.").example("0").required(),
     [](const FeedbackStep& step) { return Json(step.per_round.conservation_error); }},
});

struct SemanticsStep {
  const FeedbackStep& step;
  std::uint32_t k;
};

constexpr auto kReferences = std::to_array<Written<SemanticsStep>>({
    {vector_key("exact_local_top_k", "The first k entries of the sum of the selections.")
         .required(),
     [](const SemanticsStep& each) {
       return vector_tree(
           collectives::select_top_k(collectives::sparse_sum(each.step.selected), each.k));
     }},
    {vector_key("dense_top_k", "The first k entries of the sum of gradients and residuals.")
         .required(),
     [](const SemanticsStep& each) {
       return vector_tree(
           collectives::select_top_k(collectives::sparse_sum(each.step.accumulated), each.k));
     }},
});

std::vector<Round> rounds_of(const SemanticsStep& each) {
  std::vector<Round> rounds;
  for (const std::vector<collectives::Merge>& merges : each.step.global.rounds) {
    rounds.push_back({rounds.size(), merges});
  }
  return rounds;
}

constexpr auto kIteration = std::to_array<Written<SemanticsStep>>({
    {keys::vectors_key("selected", "What every rank selects: the first k entries of gradient and "
                                   "residual.")
         .required(),
     [](const SemanticsStep& each) { return vectors_tree(each.step.selected); }},
    io::list_row<kRound, "A round.">("rounds",
                                     "Rounds of merges; none for gathering methods and one rank.",
                                     [](const SemanticsStep& each) { return rounds_of(each); })
        .example(R"([{"round": 0, "merges": []}])"),
    {vector_key("final", "What every rank gets.").required(),
     [](const SemanticsStep& each) { return vector_tree(each.step.global.result); }},
    {vector_key("update", "What every rank gets, divided by the number of ranks.").required(),
     [](const SemanticsStep& each) { return vector_tree(each.step.update); }},
    io::object_row<kResiduals>(
        "residual_by_mask", "Residuals after the iteration under both masks.",
        [](const SemanticsStep& each) -> const auto& { return each.step; }),
    io::list_row<kLost, "A lost entry.">(
        "lost", "Entries that mask final neither applies nor returns, by rank and index.",
        [](const SemanticsStep& each) { return each.step.lost; })
        .example(R"([{"rank": 0, "index": 1, "value": 3}])"),
    io::object_row<kErrors>(
        "conservation_error_by_mask",
        "Largest difference over all indices between what went in (gradients and residuals "
        "before) and what came out (the result and residuals after).",
        [](const SemanticsStep& each) -> const auto& { return each.step; }),
    {object("references", io::kKeysOf<kReferences>, "What exact selections would give.").required(),
     [](const SemanticsStep& each) { return io::write(kReferences, each); }},
});
constexpr std::array kIterationObject{
    object("iterations", io::kKeysOf<kIteration>, "An iteration.")};

struct SemanticsRun {
  const SemanticsFile& file;
  std::span<const FeedbackStep> steps;
};

template <auto Member> constexpr auto count_of(std::string_view sentence) {
  return io::row(io::key_of<Member>(), sentence,
                 [](const SemanticsRun& run) { return run.file.*Member; })
      .in(io::at_least(0))
      .example("0");
}

constexpr auto kSemanticsRows = std::to_array<Written<SemanticsRun>>({
    io::row("name", "Name that the file gives itself, or an empty text.",
            [](const SemanticsRun& run) { return run.file.name; })
        .example(R"("example-b")"),
    {word("method", collectives::kSparseMethods, "How the selections were combined.").required(),
     [](const SemanticsRun& run) { return Json(collectives::kSparseMethods[run.file.method]); }},
    count_of<&SemanticsFile::ranks>("Number of ranks."),
    count_of<&SemanticsFile::dims>("Length of a dense vector."),
    count_of<&SemanticsFile::k>("Entries that a rank selects and a merge keeps."),
    {word("residual_mask", collectives::kResidualMasks,
          "Mask that the next iteration started from.")
         .required(),
     [](const SemanticsRun& run) { return Json(collectives::kResidualMasks[run.file.mask]); }},
    {list("iterations", kIterationObject, "Iterations in order.", "[]").required(),
     [](const SemanticsRun& run) {
       return Json(io::write_each(run.steps, [&](const FeedbackStep& step) {
         return io::write(kIteration, SemanticsStep{step, run.file.k});
       }));
     }},
});

constexpr auto kDifference = std::to_array<Written<Difference>>({
    io::row<&Difference::pointer>("JSON pointer into the file."),
    io::row<&Difference::message>("What was expected there, and what came out."),
});

struct Compared {
  const SemanticsFile& file;
  const std::optional<Difference>& difference;
};

constexpr auto kComparison = std::to_array<Written<Compared>>({
    io::row("matches_expected", "Whether all is as the file expects; null if it expects nothing.",
            [](const Compared& all) {
              return all.file.expected.is_null() ? std::nullopt
                                                 : std::optional(!all.difference.has_value());
            }),
    io::object_row<kDifference>("difference", "The first difference; null if there is none.",
                                [](const Compared& all) { return all.difference; }),
    io::texts_row<"A warning.">("warnings", "What to know about the result.",
                                [](const Compared& all) { return semantics_warnings(all.file); }),
});

constexpr io::Key kSemanticsObject =
    object("result", keys::kSemanticsResult, "What stepsim semantics --json writes.")
        .and_also(io::kKeysOf<kComparison>);

// Two ranks, one iteration.
constexpr std::array<std::string_view, 1> kSemanticsResultExamples{
    R"({"difference":null,"dims":3,"iterations":[{"conservation_error_by_mask":{"final":0,"per_round":0},"final":{"index":[1],"value":[5]},"lost":[],"references":{"dense_top_k":{"index":[1],"value":[8]},"exact_local_top_k":{"index":[1],"value":[5]}},"residual_by_mask":{"final":[{"index":[0,1],"value":[4,3]},{"index":[2],"value":[1]}],"per_round":[{"index":[0,1],"value":[4,3]},{"index":[2],"value":[1]}]},"rounds":[{"merges":[{"from":1,"rank":0,"result":{"index":[1],"value":[5]}}],"round":0}],"selected":[{"index":[0],"value":[4]},{"index":[1],"value":[5]}],"update":{"index":[1],"value":[2.5]}}],"k":1,"matches_expected":null,"method":"gtopk_tree","name":"","ranks":2,"residual_mask":"final","warnings":[]})"};

// Walks through `expected` and the output side by side and stops at the first difference. The
// output may hold more than is expected, never less.

constexpr double kTolerance = 1e-12;

using Found = std::optional<Difference>;

// Whole numbers are compared exactly, others within a relative tolerance.
// Whole numbers, such as indices and small test values, come out of exact sums; others may be
// summed in another order than by whoever wrote the file.
bool same_number(double expected, double got) {
  const bool whole = expected == std::floor(expected) && got == std::floor(got);
  return expected == got ||
         (!whole &&
          std::abs(expected - got) <= kTolerance * std::max(std::abs(expected), std::abs(got)));
}

Difference difference(const io::Json& expected, const std::string& wanted, const std::string& got) {
  return {expected.pointer(), "expected " + wanted + ", got " + got};
}

std::string entries(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

// {"index": [..], "value": [..]}
bool is_vector(const io::Json& output) {
  return output.is_object() && output.find("index") != nullptr && output.find("value") != nullptr &&
         output.as_object().size() == 2;
}

Found compare(const io::Json& expected, const io::Json& output, std::int64_t dims, bool may_end);

// Keys may be missing from `expected`; a key that no output has is an error of the file.
Found compare_objects(const io::Json& expected, const io::Json& output, std::int64_t dims) {
  for (const auto& [key, value] : expected.as_object()) {
    const io::Json* got = output.find(key);
    if (got == nullptr) {
      throw InputError(std::string(value.file()), value.pointer(),
                       "unknown key" +
                           base::did_you_mean(key, base::collected<std::string_view>(
                                                       std::views::keys(output.as_object()))));
    }
    if (Found found = compare(value, *got, dims, key == "iterations")) {
      return found;
    }
  }
  return std::nullopt;
}

Found compare_lists(const io::Json& expected, const io::Json& output, std::int64_t dims,
                    bool may_end) {
  const io::Array& wanted = expected.as_array();
  const io::Array& got = output.as_array();
  for (std::size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
    if (Found found = compare(wanted[i], got[i], dims, false)) {
      return found;
    }
  }
  if (wanted.size() > got.size() || (wanted.size() < got.size() && !may_end)) {
    return difference(expected, entries(wanted.size()), std::to_string(got.size()));
  }
  return std::nullopt;
}

// `expected` is a list of all `dims` values, the output has the entries that are not zero.
Found compare_dense(const io::Json& expected, const io::Json& output, std::int64_t dims) {
  const std::size_t count = expected.as_array().size();
  if (static_cast<std::int64_t>(count) != dims) {
    return difference(expected, entries(count), std::to_string(dims));
  }
  io::Array all(count, io::Json(0));
  const io::Array& values = output.find("value")->as_array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    all[static_cast<std::size_t>(output.find("index")->as_array()[i].as_integer())] = values[i];
  }
  return compare_lists(expected, io::Json(std::move(all)), dims, false);
}

// `may_end`: a list may be shorter than that of the output.
Found compare(const io::Json& expected, const io::Json& output, std::int64_t dims, bool may_end) {
  if (expected.is_null()) {
    return std::nullopt;
  }
  if (expected.is_array() && is_vector(output)) {
    return compare_dense(expected, output, dims);
  }
  if (expected.is_object() && output.is_object()) {
    return compare_objects(expected, output, dims);
  }
  if (expected.is_array() && output.is_array()) {
    return compare_lists(expected, output, dims, may_end);
  }
  const bool same = expected.is_number() && output.is_number()
                        ? same_number(expected.as_double(), output.as_double())
                        : expected == output;
  return same ? Found() : difference(expected, io::shown(expected), io::shown(output));
}

} // namespace

constexpr std::array<io::Key, 7> keys::kSemanticsResult = io::written_keys(kSemanticsRows);

Json semantics_tree(const SemanticsFile& file, std::span<const FeedbackStep> steps) {
  return io::write(kSemanticsRows, SemanticsRun{file, steps});
}

void add_comparison(Json& tree, const SemanticsFile& file,
                    const std::optional<Difference>& difference) {
  io::add(tree, io::write(kComparison, Compared{file, difference}));
}

io::FileKind semantics_result_kind() {
  return {"sparse_semantics_result", &kSemanticsObject, kSemanticsResultExamples, false};
}

// Every iteration runs the operators that the convergence curves use, on the residuals which the
// one before has left.

std::vector<collectives::FeedbackStep> run_semantics(const SemanticsFile& file) {
  std::vector<collectives::FeedbackStep> steps;
  std::vector<collectives::SparseVector> residuals = file.initial_residual;
  for (const std::vector<collectives::SparseVector>& gradients : file.gradients) {
    steps.push_back(
        collectives::error_feedback_step(gradients, residuals, file.method, file.k, file.mask));
    residuals = steps.back().outcome().residuals;
  }
  return steps;
}

// On a tree only the ranks that merge know what was cut; the others would have to be told, which
// costs messages that no model here counts.
std::vector<std::string> semantics_warnings(const SemanticsFile& file) {
  if (file.method == collectives::SparseMethod::gtopk_tree &&
      file.mask == collectives::ResidualMask::per_round && file.ranks > 1) {
    return {"per_round mask on a tree assumes truncation feedback that is not charged"};
  }
  return {};
}

std::optional<Difference> first_difference(const SemanticsFile& file, const io::Json& output) {
  return compare(file.expected, output, file.dims, false);
}

} // namespace stepsim::study
