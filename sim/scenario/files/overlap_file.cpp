#include "scenario/files/overlap_file.hpp"

#include "document/fields/members.hpp"
#include "scenario/files/keys/overlap_keys.hpp"

namespace stepsim::io {

namespace {

void add_constants(const OverlapConstants& constants, Json& tree) {
  set_members<&OverlapConstants::compute>(constants, tree);
  tree.set("exchange", 1);
  set_members<&OverlapConstants::startup_s, &OverlapConstants::per_byte_s>(constants, tree);
}

void add_quality(const OverlapQuality& quality, Json& tree) {
  set_members<&OverlapQuality::rows, &OverlapQuality::median_error, &OverlapQuality::max_error>(
      quality, tree);
}

// Numbers that scenarios do not take are checked alone. Returns the number of rows.
std::optional<std::int64_t> check_constants(Fields& fields) {
  for (const std::string_view key : {"startup_s", "per_byte_s", "median_error", "max_error"}) {
    (void)fields.optional_number(key);
  }
  return fields.optional_integer("rows");
}

} // namespace

KindFactors factors_by_kind(const Json& json, std::string_view noun,
                            const std::vector<std::string_view>& known, Problems& problems) {
  const Json* others = json.find("*");
  KindFactors factors{};
  const Range range = keys::kComputeSlowdown.front().range;
  factors.fill(others == nullptr ? 1 : checked_number(*others, range, problems).value_or(1));
  for (const auto& [name, value] : json.as_object()) {
    if (name == "*") {
      continue;
    }
    if (std::ranges::find(known, name) == known.end()) {
      problems.add(value, base::unknown_word(noun, name, known));
    } else {
      factors.at(static_cast<std::size_t>(*programs::kKinds.find(name))) =
          checked_number(value, range, problems).value_or(1);
    }
  }
  return factors;
}

Slowdowns read_slowdowns(Fields& fields) {
  Slowdowns slowdowns;
  if (const Json* compute = fields.any("compute"); compute != nullptr && compute->is_object()) {
    slowdowns.compute =
        factors_by_kind(*compute, "kind of computing", keys::computing_kinds(), fields.problems());
  } else if (const auto factor = fields.optional_number("compute")) {
    slowdowns.compute.emplace().fill(*factor);
  }
  slowdowns.exchange = fields.has("exchange") ? fields.optional_number("exchange") : std::nullopt;
  (void)fields.any("exchange");
  return slowdowns;
}

Object slowdown_tree(const programs::Interference& interference,
                     std::span<const std::string_view> kinds) {
  const auto& factors = interference.compute;
  const bool one = std::ranges::all_of(factors, [&](double f) { return f == factors.front(); });
  if (one) {
    return {{"compute", factors.front()}, {"exchange", interference.exchange}};
  }
  Object by_kind;
  for (const std::string_view word : kinds) {
    if (const auto kind = programs::kKinds.find(word)) {
      by_kind.emplace_back(std::string(word), factors.at(static_cast<std::size_t>(*kind)));
    }
  }
  return {{"compute", std::move(by_kind)}, {"exchange", interference.exchange}};
}

Json to_json(const OverlapFit& fit) {
  Json tree = file_json(keys::kOverlap);
  set_given(tree, "name", fit.name);
  tree.set("source", fit.source);
  add_constants(fit.constants, tree);
  add_quality(fit.quality, tree);
  if (!fit.leave_out.empty()) {
    tree.set("leave_out", fit.leave_out);
    tree.set("folds", write_each(fit.folds, [](const OverlapFold& fold) {
               Json each = Object{{"left_out", fold.left_out}};
               add_constants(fold.constants, each);
               add_quality(fold.quality, each);
               return each;
             }));
  }
  tree.set("steps", write_each(fit.steps, [&](const OverlapStep& step) {
             Json each = Object{{"schedule", step.schedule}};
             set_if(!fit.leave_out.empty(), each, "left_out", step.left_out);
             set_members<&OverlapStep::step_s, &OverlapStep::predicted_s>(step, each);
             set_given(each, "held_out_s", step.held_out_s);
             return each;
           }));
  return tree;
}

OverlapFile parse_overlap(const Json& json) {
  FileFields fields(json, keys::kOverlap);
  OverlapFile file;
  file.source = fields.text("source");
  const Slowdowns slowdowns = read_slowdowns(fields);
  if (slowdowns.compute) {
    file.interference.compute = *slowdowns.compute;
  } else {
    fields.refuse("compute", "required");
  }
  file.interference.exchange = slowdowns.exchange.value_or(1);
  file.rows = check_constants(fields);
  (void)fields.text("leave_out");
  (void)fields.each("folds", [](Fields& fold) {
    (void)fold.text("left_out");
    (void)read_slowdowns(fold);
    return check_constants(fold);
  });
  fields.check_each("steps");
  fields.finish();
  return file;
}

} // namespace stepsim::io
