// Changes and defaults are JSON texts in the table, so that a row reads like the keys it sets.
#include "study/alternatives.hpp"

#include <iterator>

#include "document/json_text.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

namespace {

constexpr const char* kAlternativeMethod = "/communication/compression/method";
constexpr std::string_view kEntries = "/communication/compression/k";

constexpr std::string_view kDensity =
    io::pointer_to<&collectives::Compression::density, "/communication/compression/">();
// What a row fills in.
const io::Object kSparse{{std::string(kDensity), 0.001}};
const io::Object kLowRank{{"/communication/compression/rank", 4}};

io::Object object_of(std::string_view text) { return io::parse_json(text, "").as_object(); }

// What is more than a schedule or a method of compression by its own name.
// clang-format off
std::vector<Alternative> further_alternatives() {
  return {
  Alternative{"bytescheduler", "chunks, first layers first",
    object_of(R"({"/communication/schedule": "priority", "/communication/preset": "bytescheduler"})"), {}},
  Alternative{"p3", "small chunks, one at a time",
    object_of(R"({"/communication/schedule": "priority", "/communication/preset": "p3"})"), {}},
  Alternative{"topk_layerwise", "topk per gradient (LAGS)",
    object_of(R"({"/communication/schedule": "wfbp", "/communication/compression/method": "topk"})"), kSparse},
  Alternative{"topk_omgs", "topk per merged group (OMGS)",
    object_of(R"({"/communication/schedule": "omgs", "/communication/compression/method": "topk"})"), kSparse},
  Alternative{"pipe_sgd", "exchange behind the next iterations",
    object_of(R"({"/training/algorithm": "pipe_sgd", "/communication/schedule": "single"})"), {}},
  Alternative{"pipe_sgd_truncate16", "the same with 16-bit values",
    object_of(R"({"/training/algorithm": "pipe_sgd", "/communication/schedule": "single", "/communication/compression/method": "truncate16"})"), {}},
  Alternative{"ps_sync", "parameter server, synchronous",
    object_of(R"({"/training/algorithm": "parameter_server", "/training/mode": "sync", "/communication/schedule": "single"})"), {}},
  Alternative{"ps_sharded", "a server on every worker, synchronous",
    object_of(R"({"/training/algorithm": "parameter_server", "/training/mode": "sync", "/training/placement": "sharded", "/communication/schedule": "single"})"), {}},
  Alternative{"ps_async", "parameter server, asynchronous",
    object_of(R"({"/training/algorithm": "parameter_server", "/training/mode": "async", "/communication/schedule": "single"})"), {}},
  };
}
// clang-format on

// Methods that send values of the gradient overlap with backward, bucket by bucket; the others
// take all of it at once, as their papers do.
Alternative of_compression(const collectives::CompressionRow& row) {
  const bool in_buckets = row.kind == collectives::CompressionKind::dense ||
                          row.kind == collectives::CompressionKind::codec;
  return {
      row.name,
      row.summary,
      {{kAlternativeMethod, row.name}, {"/communication/schedule", in_buckets ? "ddp" : "single"}},
      row.kind == collectives::CompressionKind::sparse ? kSparse
      : collectives::has_key(row, "rank")              ? kLowRank
                                                       : io::Object()};
}

// Schedules, methods of compression and the others, each in the order of its table.
std::vector<Alternative> all_alternatives() {
  std::vector<Alternative> all = base::collected_if<Alternative>(
      buckets::planners(), &buckets::Planner::compared, [](const buckets::Planner& planner) {
        return Alternative{
            planner.name, planner.summary, {{"/communication/schedule", planner.name}}, {}};
      });
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    if (row.compared) {
      all.push_back(of_compression(row));
    }
  }
  std::ranges::move(further_alternatives(), std::back_inserter(all));
  return all;
}

// What the base of every alternative is: synchronous, dense, nothing of another algorithm left.
io::Object neutral() { return {{"/training/algorithm", "sync_sgd"}}; }

io::Json changed(io::Json scenario, const io::Object& changes) {
  for (const auto& [pointer, value] : changes) {
    io::assign(scenario, pointer, value);
  }
  return scenario;
}

// Everything that the row's name stands for.
std::set<std::string> pointers_of(const Alternative& alternative) {
  std::set<std::string> pointers{kAlternativeMethod};
  for (const io::Object& changes : {neutral(), alternative.changes}) {
    for (const auto& [pointer, value] : changes) {
      pointers.insert(pointer);
    }
  }
  return pointers;
}

bool is_within(std::string_view pointer, std::string_view parent) {
  return pointer == parent ||
         (pointer.starts_with(parent) && pointer.substr(parent.size()).starts_with('/'));
}

// Whether the value at `place` gives a value, other than the neutral one, to `pointer` inside it.
bool says(std::string_view place, const io::Json& value, std::string_view pointer) {
  if (!is_within(pointer, place)) {
    return false;
  }
  const io::Json tree = with_short_forms_expanded(with_value(io::Object{}, place, value));
  const io::Json* said = io::resolve(tree, pointer);
  return said != nullptr && *said != io::Json("none") && *said != io::Json("sync_sgd");
}

// The default pointers that neither the scenario nor an axis says something about; `k` stands for
// a density.
std::vector<std::string> missing_defaults(const io::Json& scenario, const Alternative& alternative,
                                          std::span<const Axis> axes) {
  std::vector<std::string> missing;
  const auto said = [&](std::string_view pointer) {
    const io::Json* value = io::resolve(scenario, pointer);
    return (value != nullptr && !value->is_null()) ||
           std::ranges::find(axes, pointer, &Axis::pointer) != axes.end();
  };
  for (const auto& [pointer, value] : alternative.defaults) {
    const bool other_form = pointer == kDensity && said(kEntries);
    if (!said(pointer) && !other_form) {
      missing.push_back(pointer);
    }
  }
  return missing;
}

} // namespace

std::span<const Alternative> alternatives() {
  static const std::vector<Alternative> all = all_alternatives();
  return all;
}

std::vector<Alternative> find_alternatives(std::span<const std::string> names) {
  std::vector<Alternative> found;
  auto known = base::collected<std::string_view>(alternatives(), &Alternative::name);
  known.insert(known.begin(), "all");
  std::set<std::string> seen;
  const bool all = std::ranges::find(names, "all") != names.end();
  for (const std::string& name : names) {
    if (name == "all") {
      continue;
    }
    const auto place = std::ranges::find(alternatives(), name, &Alternative::name);
    if (place == alternatives().end()) {
      throw UsageError(base::unknown_word("algorithm", name, known));
    }
    if (seen.insert(name).second) {
      found.push_back(*place);
    }
  }
  return all ? std::vector(alternatives().begin(), alternatives().end()) : found;
}

std::string changes_text(const Alternative& alternative) {
  constexpr std::string_view kParent = "/communication/";
  return base::listed(alternative.changes, [&](const auto& change) {
    const auto& [pointer, value] = change;
    return (pointer.starts_with(kParent) ? pointer.substr(kParent.size()) : pointer) + "=" +
           value.as_string();
  });
}

void refuse_contradictions(std::span<const Alternative> chosen,
                           std::span<const std::pair<std::string, io::Json>> set,
                           std::span<const Axis> over) {
  const auto refuse = [](const char* flag, std::string_view pointer, std::string_view name) {
    throw UsageError(fmt::format("{}: {} is set by algorithm {}", flag, pointer, name));
  };
  for (const Alternative& alternative : chosen) {
    for (const std::string& pointer : pointers_of(alternative)) {
      for (const Axis& axis : over) { // comes after the alternative, so a whole object undoes it
        if (is_within(pointer, axis.pointer) || is_within(axis.pointer, pointer)) {
          refuse("--over", pointer, alternative.name);
        }
      }
      for (const auto& [place, value] : set) {
        if (is_within(place, pointer) || says(place, value, pointer)) {
          refuse("--set", pointer, alternative.name);
        }
      }
    }
  }
}

bool has_compression(const io::Json& scenario) {
  const io::Json* method = io::resolve(scenario, kAlternativeMethod);
  if (method == nullptr || !method->is_string()) {
    return false;
  }
  const collectives::CompressionRow* row = collectives::find_compression(method->as_string());
  return row != nullptr && row->method != collectives::CompressionMethod::none;
}

io::Json with_alternative(io::Json scenario, const Alternative& alternative,
                          std::span<const Axis> axes) {
  scenario = changed(with_short_forms_expanded(std::move(scenario)), neutral());
  if (has_compression(scenario)) {
    io::assign(scenario, kAlternativeMethod, "none");
  }
  scenario = changed(std::move(scenario), alternative.changes);
  for (const std::string& pointer : missing_defaults(scenario, alternative, axes)) {
    io::assign(scenario, pointer, *io::Json(alternative.defaults).find(pointer));
  }
  return scenario;
}

std::vector<std::string> filled_in(const io::Json& scenario, const Alternative& alternative,
                                   std::span<const Axis> axes) {
  return base::collected<std::string>( // "rank" of "/communication/compression/rank"
      missing_defaults(changed(with_short_forms_expanded(scenario), alternative.changes),
                       alternative, axes),
      [](const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); });
}

} // namespace stepsim::study
