// Parts of a profile that describe computing beside the network. Costs of compression are kept by
// the name of their row, so that a method with new costs needs no line here.
#include "scenario/files/profile_file.hpp"

#include <fmt/core.h>

#include "collectives/compress/compression.hpp"
#include "scenario/files/keys/profile_keys.hpp"

namespace stepsim::io {

namespace {

// Why no costs can be given for this word; empty if they can.
std::string no_costs_for(std::string_view method) {
  const std::vector<std::string_view> known = keys::names_with_costs();
  if (std::ranges::find(known, method) != known.end()) {
    return "";
  }
  return collectives::find_compression(method) == nullptr
             ? collectives::unknown_compression(method)
             : "method " + std::string(method) + " has no costs";
}

// Only the costs that the file gives: a run takes the default of every other one.
links::CompressionCosts parse_costs(Fields& fields, std::string_view method) {
  links::CompressionCosts costs{std::string(method), "", {}};
  costs.form = fields.optional_word(keys::kSelectForm.name).value_or("");
  for (const Key& key : keys::kCompressionCosts) {
    if (const auto value = fields.optional_number(key.name)) {
      costs.values.emplace_back(key.name, *value);
    }
  }
  return costs;
}

} // namespace

// Factors are one per number of ranks. A list of the wrong kind keeps its length by repeating its
// last rank or a factor of 1, so that a single bad entry is reported once and does not also make
// the lengths differ.
void parse_dense_inflation(Fields& fields, links::NetworkProfile& profile) {
  fields.object("dense_inflation", [&](Fields& inflation) {
    auto& [ranks, factors] = profile.dense_inflation;
    for (const Json& value : inflation.list("ranks")) {
      const Range range = keys::kInflationRanks.front().range;
      const auto number = checked_integer(value, range, inflation.problems());
      if (number && !ranks.empty() && *number <= ranks.back()) {
        inflation.problems().add(value,
                                 fmt::format("ranks must be strictly ascending, got {} after {}",
                                             shown(value), ranks.back()));
      }
      ranks.push_back(number.value_or(ranks.empty() ? 1 : ranks.back()));
    }
    for (const Json& value : inflation.list("factor")) {
      const Range range = keys::kInflationFactor.front().range;
      const auto number = checked_number(value, {}, inflation.problems());
      if (number && !range.contains(*number)) {
        inflation.problems().add(value, "factor " + range.text() + ", got " + shown(value));
      }
      factors.push_back(number.value_or(1));
    }
    if (inflation.has("ranks") && ranks.empty()) {
      inflation.refuse("ranks", "needs at least one entry");
    }
    if (factors.size() != ranks.size()) {
      inflation.refuse("factor", "must have as many entries as ranks");
    }
  });
}

// The keys are names of methods. A name without costs is asked for with `any`, which marks it as
// seen, or it would be reported as an unknown key a second time.
void parse_compression_costs(Fields& fields, links::NetworkProfile& profile) {
  fields.object("compression_costs", [&](Fields& methods) {
    if (!methods.json().is_object()) {
      return;
    }
    for (const auto& member : methods.json().as_object()) {
      const std::string& method = member.first;
      if (const std::string problem = no_costs_for(method); !problem.empty()) {
        methods.problems().add(member.second, problem);
        (void)methods.any(method);
        continue;
      }
      methods.object(method, [&](Fields& costs) {
        profile.compression_costs.push_back(parse_costs(costs, method));
      });
    }
  });
}

} // namespace stepsim::io
