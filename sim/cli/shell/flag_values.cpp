#include "cli/shell/flag_values.hpp"

#include <CLI/CLI.hpp>

#include "run/work_estimate.hpp"

namespace stepsim::cli {

namespace {

using base::QuantityKind;

[[noreturn]] void refuse_value(std::string_view flag, std::string_view value,
                               const std::string& why) {
  throw UsageError(std::string(flag) + " " + base::shown_value(value) + ": " + why);
}

// The words of the range are those of keys in files, with "an integer" where the flag is a count.
std::string rule_of(QuantityKind kind, io::Range range) {
  std::string rule = range.text();
  if (kind == QuantityKind::count) {
    rule.replace(0, std::string_view("must be").size(), "must be an integer");
  }
  return rule;
}

void require(std::string_view flag, std::string_view text, QuantityKind kind, io::Range range,
             double value) {
  if (!range.contains(value)) {
    refuse_value(flag, text, rule_of(kind, range) + ", got " + base::shortest(value));
  }
}

// A text that is no quantity. One below zero is refused in the words of the range, if that has no
// 0.
[[noreturn]] void refuse_text(std::string_view flag, std::string_view text, QuantityKind kind,
                              io::Range range, std::string message) {
  constexpr std::string_view kNotNegative = "must be >= 0";
  if (message.starts_with(kNotNegative) && !range.contains(0)) {
    message.replace(0, kNotNegative.size(), rule_of(kind, range));
  }
  refuse_value(flag, text, message);
}

// Flags and keys with other names; several flags may stand for one key.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kKeysOfFlags{{
    {"--ranks", "/cluster/nodes"},
    {"--workers", "/cluster/nodes"},
    {"--cluster", "/cluster/preset"},
    {"--sharding", "/training/sharding/strategy"},
    {"--bandwidth", study::kNetworkPointer<&study::Network::bandwidth_Bps>},
    {"--latency", study::kNetworkPointer<&study::Network::latency_s>},
    {"--mtbf", "/job/node_mtbf_s"},
    {"--compression", "/communication/compression/method"},
}};
// Objects, and the flags that are named like their keys, without dashes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kFlagsOfObjects{{
    {"/", " conditions "},
    {"/cluster/", " nodes preset gpus-per-node nics-per-node network intra-network topology "},
    {"/workload/", " trace model gpu batch-size sequence-length dtype "},
    {"/training/", " iterations "},
    {"/job/", " samples tokens tokens-per-sample price-per-gpu-hour checkpoint-s restart-s "},
    {"/communication/", " schedule collective bucket-bytes "},
    {"/communication/compression/", " density "},
}};

} // namespace

double quantity(std::string_view flag, std::string_view text, QuantityKind kind, io::Range range,
                base::BareNumber bare) {
  const auto parsed = base::parse_quantity(text, kind, bare);
  if (const auto* message = std::get_if<std::string>(&parsed)) {
    refuse_text(flag, text, kind, range, *message);
  }
  const double value = std::get<double>(parsed);
  require(flag, text, kind, range, value);
  return value;
}

// A double counts exactly up to 9e15.
std::int64_t count(std::string_view flag, std::string_view text, io::Range range) {
  constexpr double kMost = 9e15; // every integer up to here is a double
  const double value = quantity(flag, text, QuantityKind::count, range);
  if (value > kMost) {
    refuse_value(flag, text, "must be an integer up to 9e15");
  }
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> optional_count(std::string_view flag, std::string_view text,
                                           io::Range range) {
  return text.empty() ? std::nullopt : std::optional(count(flag, text, range));
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void add_max_seconds_flag(CLI::App& app, std::string& text) {
  add_value(app, "--max-seconds", text, "TIME",
            "refuses a run whose estimated CPU time is longer; default 600");
}

// Other quantities need a unit.
double seconds(std::string_view flag, const std::string& text, io::Range range) {
  return quantity(flag, text, QuantityKind::time, range, base::BareNumber::si);
}

double max_seconds(const std::string& text) {
  return text.empty() ? study::kMaxSeconds : seconds("--max-seconds", text);
}

std::vector<double> numbers(std::string_view flag, std::string_view text, QuantityKind kind,
                            io::Range range) {
  auto parsed = base::parse_quantity_list(text, kind);
  if (const auto* message = std::get_if<std::string>(&parsed)) {
    refuse_text(flag, text, kind, range, *message);
  }
  auto& values = std::get<std::vector<double>>(parsed);
  for (const double value : values) {
    require(flag, text, kind, range, value);
  }
  return std::move(values);
}

std::vector<std::int64_t> counts(std::string_view flag, std::string_view text, io::Range range) {
  const std::vector<double> values = numbers(flag, text, QuantityKind::count, range);
  return {values.begin(), values.end()};
}

std::string pointer_of_flag(std::string_view flag) {
  for (const auto& [name, pointer] : kKeysOfFlags) {
    if (name == flag) {
      return std::string(pointer);
    }
  }
  std::string key(flag.substr(2));
  for (const auto& [object, flags] : kFlagsOfObjects) {
    if (flags.find(" " + key + " ") != flags.npos) {
      std::ranges::replace(key, '-', '_');
      return std::string(object) + key;
    }
  }
  return "";
}

} // namespace stepsim::cli
