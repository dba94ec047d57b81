#include "cli/collective_params.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/quantity.hpp"

namespace stepsim::cli {

namespace {

using coll::AlgorithmId;

struct Param {
  std::string_view name;
  std::string_view values; // words separated by blanks; "" = a count
  void (*apply)(coll::Options&, std::size_t index, std::string_view word);
};

AlgorithmId algorithm_of(std::string_view word) { return *coll::parse_algorithm(word); }

constexpr std::array kParams{
    Param{"reduction_mode", "overlapped serial",
          [](coll::Options& o, std::size_t i, std::string_view) {
            o.reduction_mode = static_cast<coll::ReductionMode>(i);
          }},
    Param{"chunking", "integer real",
          [](coll::Options& o, std::size_t i, std::string_view) {
            o.chunking = static_cast<coll::Chunking>(i);
          }},
    Param{"element_bytes", "",
          [](coll::Options& o, std::size_t i, std::string_view) {
            o.element_bytes = static_cast<std::int64_t>(i);
          }},
    Param{"cost_form", "exact paper ideal",
          [](coll::Options& o, std::size_t i, std::string_view) {
            o.cost_form = static_cast<coll::CostForm>(i);
          }},
    Param{"lp_last_hop", "false true",
          [](coll::Options& o, std::size_t i, std::string_view) { o.lp_last_hop = i == 1; }},
    Param{"ring_startup", "2(P-1) 2P",
          [](coll::Options& o, std::size_t i, std::string_view) { o.ring_startup_2p = i == 1; }},
    Param{"exchange_sizes", "false true",
          [](coll::Options& o, std::size_t i, std::string_view) { o.exchange_sizes = i == 1; }},
    Param{"intra_algorithm", "mst be lp",
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.intra_algorithm = algorithm_of(word);
          }},
    Param{"inter_algorithm", "mst be bruck ring recursive_doubling lp double_binary_tree",
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.inter_algorithm = algorithm_of(word);
          }},
};

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    parts.push_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return parts;
}

} // namespace

void apply_param(coll::Options& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos) {
    throw UsageError("--param " + base::shown_value(text) + ": must be NAME=VALUE");
  }
  const std::string_view value = text.substr(equals + 1);
  const auto* param = std::ranges::find(kParams, name, &Param::name);
  if (param == kParams.end()) {
    std::vector<std::string_view> known;
    for (const Param& each : kParams) {
      known.push_back(each.name);
    }
    throw UsageError("--param: " + base::unknown_word("parameter", name, known));
  }
  if (param->values.empty()) {
    const auto parsed = base::parse_quantity(value, base::QuantityKind::count);
    if (const auto* message = std::get_if<std::string>(&parsed)) {
      throw UsageError("--param " + base::shown_value(text) + ": " + *message);
    }
    const double count = std::get<double>(parsed);
    if (count < 1 || count > 1e6) {
      throw UsageError("--param " + base::shown_value(text) +
                       ": must be an integer in [1, 1000000]");
    }
    param->apply(options, static_cast<std::size_t>(count), value);
    return;
  }
  const std::vector<std::string_view> known = split(param->values);
  const auto found = std::ranges::find(known, value);
  if (found == known.end()) {
    throw UsageError("--param: " + base::unknown_word(name, value, known));
  }
  param->apply(options, static_cast<std::size_t>(found - known.begin()), value);
}

std::string params_help() {
  std::string text = "rare switches, repeatable:";
  for (const Param& param : kParams) {
    text.append(&param == kParams.data() ? " " : "; ").append(param.name).append(" ");
    text.append(param.values.empty() ? "COUNT" : param.values);
  }
  return text + "; defaults exact, integer, overlapped, 1, true, 2(P-1), false, mst, ring";
}

} // namespace stepsim::cli
