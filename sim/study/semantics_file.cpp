// Vectors are judged by the number of ranks and their length, so gradients are read only where both
// are right: otherwise every vector would have a problem.
#include "study/semantics_result.hpp"

#include "base/collected.hpp"
#include "document/reader.hpp"
#include "study/semantics_keys.hpp"

namespace stepsim::study {

namespace {

using collectives::SparseVector;

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

// A list of all `dims` values.
SparseVector parse_dense(const io::Json& json, std::int64_t dims, io::Problems& problems) {
  const io::Array& list = json.as_array();
  if (static_cast<std::int64_t>(list.size()) != dims) {
    problems.refuse(json, "{}, but dims is {}", base::counted(std::ssize(list), "value"), dims);
    return {};
  }
  return collectives::to_sparse(parse_values(list, problems));
}

// {"index": [..], "value": [..]}; empty after a problem.
SparseVector parse_entries(const io::Json& json, std::int64_t dims, io::Problems& problems) {
  io::Fields fields(json, problems, keys::kEntries);
  const std::span<const io::Json> index_list = fields.array("index", true);
  const std::span<const io::Json> value_list = fields.array("value", true);
  fields.no_more();
  std::vector<std::int64_t> indices;
  for (const io::Json& each : index_list) {
    if (const auto index = io::checked_integer(each, keys::kIndex.front().range, problems)) {
      indices.push_back(*index);
    }
  }
  const std::vector<double> values = parse_values(value_list, problems);
  if (!fields.has("index") || !fields.has("value") || indices.size() != index_list.size()) {
    return {};
  }
  if (values.size() != indices.size()) {
    problems.add(json, "value", "{}, but index has {}", base::counted(std::ssize(values), "value"),
                 indices.size());
    return {};
  }
  const std::vector<collectives::SparseProblem> wrong =
      collectives::sparse_problems(indices, values, dims);
  for (const collectives::SparseProblem& each : wrong) {
    const bool index = each.part == collectives::SparseProblem::Part::index;
    problems.add((index ? index_list : value_list)[each.position], each.message);
  }
  return wrong.empty() ? collectives::make_sparse(indices, values, dims) : SparseVector();
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

// One vector per rank; fewer after a problem.
std::vector<SparseVector> parse_ranks(const io::Json& json, const SemanticsFile& file,
                                      io::Problems& problems) {
  if (!json.is_array()) {
    problems.add(json, "must be a list with one vector per rank, got " + io::shown(json));
    return {};
  }
  if (json.as_array().size() != file.ranks) {
    problems.refuse(json, "{}, but ranks is {}",
                    base::counted(std::ssize(json.as_array()), "vector"), file.ranks);
    return {};
  }
  return base::collected<SparseVector>(json.as_array(), [&](const io::Json& each) {
    return parse_vector(each, file.dims, problems);
  });
}

// The words of the row; the family "gtopk" is nearer to its members than to "topk".
void parse_method(io::Fields& fields, io::Problems& problems, SemanticsFile& file) {
  const std::string word = fields.string("method");
  if (const auto method = collectives::kSparseMethods.find(word)) {
    file.method = *method;
    return;
  }
  const io::Json* given = fields.any("method");
  if (given == nullptr || !given->is_string()) {
    return; // reported
  }
  const std::span<const std::string_view> names = collectives::kSparseMethods.all();
  const auto member = std::ranges::find_if(
      names, [&](std::string_view name) { return !word.empty() && name.starts_with(word + "_"); });
  problems.add(*given, member == names.end()
                           ? base::unknown_word("compression method", word, names)
                           : "unknown compression method \"" + word + "\"; did you mean \"" +
                                 std::string(*member) + "\"?");
}

// `sized`: ranks and dims are known, so vectors can be judged.
// Gradients are looked up in any case, also where they cannot be judged, or their keys would be
// reported as unknown.
void parse_gradients(io::Fields& fields, io::Problems& problems, SemanticsFile& file, bool sized) {
  const std::span<const io::Json> iterations = fields.array("gradients", true);
  const io::Json* list = fields.any("gradients");
  if (list != nullptr && list->is_array() && iterations.empty()) {
    fields.refuse("gradients", "needs at least one iteration");
  }
  const io::Json* residual = fields.given("initial_residual");
  if (!sized) {
    return;
  }
  file.gradients = base::collected<std::vector<SparseVector>>(
      iterations, [&](const io::Json& each) { return parse_ranks(each, file, problems); });
  file.initial_residual.resize(file.ranks);
  if (residual != nullptr) {
    file.initial_residual = parse_ranks(*residual, file, problems);
  }
}

} // namespace

SemanticsFile parse_semantics(const io::Json& tree) {
  io::FileFields fields(tree, keys::kSemantics);
  io::Problems& problems = fields.problems();
  SemanticsFile file;
  file.name = tree.text("name");
  parse_method(fields, problems, file);
  const std::size_t before = problems.list().size();
  file.ranks = static_cast<std::uint32_t>(fields.integer("ranks"));
  file.dims = fields.integer("dims");
  const bool sized = problems.list().size() == before;
  io::Range entries = fields.row("k").range;
  entries.high = sized ? std::min(entries.high, static_cast<double>(file.dims)) : entries.high;
  file.k = static_cast<std::uint32_t>(fields.integer("k", entries));
  file.mask = fields.word("residual_mask", collectives::kResidualMasks);
  parse_gradients(fields, problems, file, sized);
  if (const io::Json* expected = fields.any("expected"); expected != nullptr) {
    file.expected = *expected;
  }
  fields.finish();
  return file;
}

} // namespace stepsim::study
