#include "files/profile_parts.hpp"

#include <string>

#include "coll/compress/compression.hpp"

namespace stepsim::io {

namespace {

// Why no costs can be given for this word; empty if they can.
std::string no_costs_for(std::string_view method) {
  if (method == "any") {
    return "";
  }
  const coll::CompressionRow* row = coll::find_compression(method);
  if (row == nullptr) {
    return coll::unknown_compression(method);
  }
  return coll::has_key(*row, "costs") ? "" : "method " + std::string(method) + " has no costs";
}

net::CompressionCosts parse_costs(Fields& keys, std::string_view method) {
  net::CompressionCosts costs{std::string(method), "", {}};
  if (keys.has("form")) {
    costs.form = net::kSelectForms[keys.word("form", net::kSelectForms, 0)];
  }
  (void)keys.any("form");
  for (const std::string_view key : net::kCompressionCosts) {
    if (const auto value = keys.optional_number(key, at_least(0))) {
      costs.values.emplace_back(key, *value);
    }
  }
  return costs;
}

// Every member must be a number; for results of fits.
void number_members(Fields& fields, Range range) {
  if (fields.json().is_object()) {
    for (const auto& [key, value] : fields.json().as_object()) {
      (void)fields.number(key, range);
    }
  }
}

} // namespace

void numbers(Fields& parent, std::string_view key, Range range) {
  for (const Json& value : parent.array(key, false)) {
    (void)checked_number(value, range, parent.problems());
  }
}

void parse_dense_inflation(Fields& fields, net::NetworkProfile& profile) {
  object(fields, "dense_inflation", [&](Fields& inflation) {
    auto& [ranks, factors] = profile.dense_inflation;
    for (const Json& value : inflation.array("ranks", true)) {
      const auto number = checked_integer(value, at_least(1), inflation.problems());
      if (number && !ranks.empty() && *number <= ranks.back()) {
        inflation.problems().add(value, "ranks must be strictly ascending, got " + shown(value) +
                                            " after " + std::to_string(ranks.back()));
      }
      ranks.push_back(number.value_or(ranks.empty() ? 1 : ranks.back()));
    }
    for (const Json& value : inflation.array("factor", true)) {
      const auto number = checked_number(value, {}, inflation.problems());
      if (number && *number <= 0) {
        inflation.problems().add(value, "factor must be > 0, got " + shown(value));
      }
      factors.push_back(number.value_or(1));
    }
    if (inflation.has("ranks") && ranks.empty()) {
      inflation.problems().add(inflation.json(), "ranks", "needs at least one entry");
    }
    if (factors.size() != ranks.size()) {
      inflation.problems().add(inflation.json(), "factor", "must have as many entries as ranks");
    }
  });
}

void parse_compression_costs(Fields& fields, net::NetworkProfile& profile) {
  object(fields, "compression_costs", [&](Fields& methods) {
    if (!methods.json().is_object()) {
      return;
    }
    for (const auto& [method, value] : methods.json().as_object()) {
      if (const std::string problem = no_costs_for(method); !problem.empty()) {
        methods.problems().add(value, problem);
        (void)methods.any(method);
        continue;
      }
      object(methods, method,
             [&](Fields& keys) { profile.compression_costs.push_back(parse_costs(keys, method)); });
    }
  });
}

void check_kernels(Fields& fields) {
  for (const Json& json : fields.array("kernels", false)) {
    Fields kernel(json, fields.problems());
    (void)kernel.string("kernel");
    for (const std::string_view key : {"n", "k", "achieved_k", "median_s", "p10_s", "p90_s"}) {
      numbers(kernel, key, at_least(0));
    }
    object(kernel, "fit", [](Fields& fit) { number_members(fit, at_least(0)); });
    for (const std::string_view key : {"device", "driver", "distribution"}) {
      (void)kernel.string(key, "");
    }
    kernel.no_more();
  }
}

} // namespace stepsim::io
