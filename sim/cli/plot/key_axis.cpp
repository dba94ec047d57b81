#include "cli/plot/rows_figure.hpp"

#include <algorithm>

#include "cli/shell/unit_text.hpp"

namespace stepsim::cli {

namespace {

// "exposed communication" of exposed_communication_s.
std::string title_of_key(std::string_view key, std::string_view suffix) {
  std::string words(key.substr(0, key.size() - (key.ends_with(suffix) ? suffix.size() : 0)));
  std::ranges::replace(words, '_', ' ');
  return words;
}

} // namespace

bool is_share(std::string_view key) {
  return key.ends_with("efficiency") || key.ends_with("fraction") || key == "utilization";
}

KeyAxis key_axis(std::string_view key, double greatest) {
  const auto axis = [&](std::string_view suffix, std::string unit, double factor) {
    return KeyAxis{{.title = title_of_key(key, suffix), .unit = std::move(unit)}, factor};
  };
  if (is_share(key)) {
    return axis("", "%", 100);
  }
  if (key.ends_with("_per_s")) {
    return {{.title = "throughput", .unit = title_of_key(key, "_per_s") + "/s"}, 1};
  }
  switch (quantity_of(key).value_or(base::QuantityKind::count)) {
  case base::QuantityKind::time:
    return greatest >= 1e3    ? axis("_s", "s", 1) // tables show milliseconds up to there, too
           : greatest >= 1e-3 ? axis("_s", "ms", 1e3)
                              : axis("_s", "us", 1e6);
  case base::QuantityKind::rate: // bandwidths of collectives are told in bytes, those of links in
                                 // bits
    return key.find("busbw") != std::string_view::npos ||
                   key.find("algbw") != std::string_view::npos
               ? axis("_Bps", "GB/s", 1e-9)
               : axis("_Bps", "Gb/s", 8e-9);
  case base::QuantityKind::size:
    return axis("_bytes", "bytes", 1);
  case base::QuantityKind::flops:
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
  case base::QuantityKind::amount:
    break;
  }
  return axis("", "", 1);
}

std::string with_unit(std::string_view key, double value) {
  const KeyAxis of = key_axis(key, value);
  const std::string text = plain_cell(base::rounded_to(value * of.factor, 6));
  return of.axis.unit.empty() ? of.axis.title + " " + text : text + " " + of.axis.unit;
}

} // namespace stepsim::cli
