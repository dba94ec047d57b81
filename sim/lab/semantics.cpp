#include "lab/semantics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

namespace {

using coll::SparseVector;

std::string count_text(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// Numbers only; others are problems and read as 0.
std::vector<double> parse_values(std::span<const io::Json> list, io::Problems& problems) {
  std::vector<double> values;
  for (const io::Json& value : list) {
    if (!value.is_number()) {
      problems.add(value, "value must be finite, got " + io::shown(value));
    }
    values.push_back(value.is_number() ? value.as_double() : 0.0);
  }
  return values;
}

SparseVector parse_dense(const io::Json& json, std::int64_t dims, io::Problems& problems) {
  const io::Array& list = json.as_array();
  if (static_cast<std::int64_t>(list.size()) != dims) {
    problems.add(json, count_text(list.size(), "value") + ", but dims is " + std::to_string(dims));
    return {};
  }
  return coll::to_sparse(parse_values(list, problems));
}

SparseVector parse_entries(const io::Json& json, std::int64_t dims, io::Problems& problems) {
  io::Fields fields(json, problems);
  const std::span<const io::Json> index_list = fields.array("index", true);
  const std::span<const io::Json> value_list = fields.array("value", true);
  fields.no_more();
  std::vector<std::int64_t> indices;
  for (const io::Json& each : index_list) {
    if (const auto index = io::checked_integer(each, io::at_least(0), problems)) {
      indices.push_back(*index);
    }
  }
  const std::vector<double> values = parse_values(value_list, problems);
  if (!fields.has("index") || !fields.has("value") || indices.size() != index_list.size()) {
    return {};
  }
  if (values.size() != indices.size()) {
    problems.add(json, "value",
                 count_text(values.size(), "value") + ", but index has " +
                     std::to_string(indices.size()));
    return {};
  }
  const std::vector<coll::SparseProblem> wrong = coll::sparse_problems(indices, values, dims);
  for (const coll::SparseProblem& each : wrong) {
    const bool index = each.part == coll::SparseProblem::Part::index;
    problems.add((index ? index_list : value_list)[each.position], each.message);
  }
  return wrong.empty() ? coll::make_sparse(indices, values, dims) : SparseVector();
}

SparseVector parse_vector(const io::Json& json, std::int64_t dims, io::Problems& problems) {
  if (json.is_array()) {
    return parse_dense(json, dims, problems);
  }
  if (json.is_object()) {
    return parse_entries(json, dims, problems);
  }
  problems.add(json, "must be a list of numbers or {\"index\", \"value\"}, got " + io::shown(json));
  return {};
}

std::vector<SparseVector> parse_ranks(const io::Json& json, const SemanticsFile& file,
                                      io::Problems& problems) {
  std::vector<SparseVector> vectors;
  if (!json.is_array()) {
    problems.add(json, "must be a list with one vector per rank, got " + io::shown(json));
    return vectors;
  }
  if (json.as_array().size() != file.ranks) {
    problems.add(json, count_text(json.as_array().size(), "vector") + ", but ranks is " +
                           std::to_string(file.ranks));
    return vectors;
  }
  for (const io::Json& each : json.as_array()) {
    vectors.push_back(parse_vector(each, file.dims, problems));
  }
  return vectors;
}

void parse_method(io::Fields& fields, io::Problems& problems, SemanticsFile& file) {
  const std::span<const std::string_view> names = coll::sparse_method_names();
  const std::string word = fields.string("method");
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) {
    file.method = static_cast<coll::SparseMethod>(found - names.begin());
  } else if (const io::Json* given = fields.any("method"); given != nullptr && given->is_string()) {
    // The family "gtopk" is nearer to its members than to "topk".
    std::vector<std::string_view> known;
    std::copy_if(names.begin(), names.end(), std::back_inserter(known), [&](std::string_view name) {
      return !word.empty() && name.starts_with(word + "_");
    });
    problems.add(*given, known.empty()
                             ? base::unknown_word("compression method", word, names)
                             : "unknown compression method \"" + word + "\"; did you mean \"" +
                                   std::string(known.front()) + "\"?");
  }
}

// `sized`: ranks and dims are known, so vectors can be judged.
void parse_gradients(io::Fields& fields, io::Problems& problems, SemanticsFile& file, bool sized) {
  const std::span<const io::Json> iterations = fields.array("gradients", true);
  const io::Json* list = fields.any("gradients");
  if (list != nullptr && list->is_array() && iterations.empty()) {
    problems.add(fields.json(), "gradients", "needs at least one iteration");
  }
  const io::Json* residual = fields.any("initial_residual");
  if (!sized) {
    return;
  }
  for (const io::Json& each : iterations) {
    file.gradients.push_back(parse_ranks(each, file, problems));
  }
  file.initial_residual.resize(file.ranks);
  if (residual != nullptr && !residual->is_null()) {
    file.initial_residual = parse_ranks(*residual, file, problems);
  }
}

io::Json vector_tree(const SparseVector& vector) {
  io::Array indices;
  for (const std::uint32_t index : vector.indices) {
    indices.push_back(std::int64_t{index});
  }
  return io::Object{{"index", std::move(indices)},
                    {"value", io::Array(vector.values.begin(), vector.values.end())}};
}

io::Json vectors_tree(std::span<const SparseVector> vectors) {
  io::Array out;
  for (const SparseVector& each : vectors) {
    out.push_back(vector_tree(each));
  }
  return out;
}

io::Json rounds_tree(const coll::GlobalTopK& global) {
  io::Array rounds;
  for (std::size_t r = 0; r < global.rounds.size(); ++r) {
    io::Array merges;
    for (const coll::Merge& merge : global.rounds[r]) {
      merges.push_back(io::Object{{"rank", std::int64_t{merge.rank}},
                                  {"from", std::int64_t{merge.from}},
                                  {"result", vector_tree(merge.result)}});
    }
    rounds.push_back(io::Object{{"round", std::uint64_t{r}}, {"merges", std::move(merges)}});
  }
  return rounds;
}

io::Json iteration_tree(const coll::FeedbackStep& step, std::uint32_t k) {
  io::Array lost;
  for (const coll::LostEntry& each : step.lost) {
    lost.push_back(io::Object{{"rank", std::int64_t{each.rank}},
                              {"index", std::int64_t{each.index}},
                              {"value", each.value}});
  }
  return io::Object{
      {"selected", vectors_tree(step.selected)},
      {"rounds", rounds_tree(step.global)},
      {"final", vector_tree(step.global.result)},
      {"update", vector_tree(step.update)},
      {"residual_by_mask", io::Object{{"final", vectors_tree(step.final.residuals)},
                                      {"per_round", vectors_tree(step.per_round.residuals)}}},
      {"lost", std::move(lost)},
      {"conservation_error_by_mask", io::Object{{"final", step.final.conservation_error},
                                                {"per_round", step.per_round.conservation_error}}},
      {"references",
       io::Object{
           {"exact_local_top_k",
            vector_tree(coll::select_top_k(coll::sparse_sum(step.selected), k))},
           {"dense_top_k", vector_tree(coll::select_top_k(coll::sparse_sum(step.accumulated), k))},
       }},
  };
}

} // namespace

SemanticsFile parse_semantics(const io::Json& tree) {
  io::Problems problems;
  io::Fields fields(tree, problems);
  fields.header("sparse_semantics");
  SemanticsFile file;
  const io::Json* name = tree.find("name");
  file.name = name != nullptr && name->is_string() ? name->as_string() : std::string();
  parse_method(fields, problems, file);
  const std::size_t before = problems.list().size();
  file.ranks = static_cast<std::uint32_t>(fields.integer("ranks", io::between(1, 1 << 20)));
  file.dims = fields.integer("dims", io::between(1, 0x1p32));
  const bool sized = problems.list().size() == before;
  const double most = sized ? static_cast<double>(file.dims) : HUGE_VAL;
  file.k =
      static_cast<std::uint32_t>(fields.integer("k", io::between(1, std::min(most, 0x1p32 - 1))));
  file.mask = fields.word("residual_mask", coll::kResidualMasks, coll::ResidualMask::final);
  parse_gradients(fields, problems, file, sized);
  if (const io::Json* expected = fields.any("expected"); expected != nullptr) {
    file.expected = *expected;
  }
  fields.no_more();
  problems.throw_if_any();
  return file;
}

std::vector<coll::FeedbackStep> run_semantics(const SemanticsFile& file) {
  std::vector<coll::FeedbackStep> steps;
  std::vector<SparseVector> residuals = file.initial_residual;
  for (const std::vector<SparseVector>& gradients : file.gradients) {
    steps.push_back(
        coll::error_feedback_step(gradients, residuals, file.method, file.k, file.mask));
    residuals = steps.back().outcome().residuals;
  }
  return steps;
}

io::Json semantics_tree(const SemanticsFile& file, std::span<const coll::FeedbackStep> steps) {
  io::Array iterations;
  for (const coll::FeedbackStep& step : steps) {
    iterations.push_back(iteration_tree(step, file.k));
  }
  return io::Object{
      {"name", file.name},
      {"method", coll::name_of(file.method)},
      {"ranks", std::int64_t{file.ranks}},
      {"dims", file.dims},
      {"k", std::int64_t{file.k}},
      {"residual_mask", coll::kResidualMasks[file.mask]},
      {"iterations", std::move(iterations)},
  };
}

std::vector<std::string> semantics_warnings(const SemanticsFile& file) {
  if (file.method == coll::SparseMethod::gtopk_tree && file.mask == coll::ResidualMask::per_round &&
      file.ranks > 1) {
    return {"per_round mask on a tree assumes truncation feedback that is not charged"};
  }
  return {};
}

} // namespace stepsim::study
