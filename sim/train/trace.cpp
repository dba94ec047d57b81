#include "train/trace.hpp"

#include <algorithm>
#include <array>

namespace stepsim::train {

namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 5> kProvenances{"measured", "imported", "assumed",
                                                       "synthetic", "scaled"};

} // namespace

std::string_view name(Provenance provenance) {
  return kProvenances[static_cast<std::size_t>(provenance)];
}

std::optional<Provenance> parse_provenance(std::string_view word) {
  const auto* const found = std::find(kProvenances.begin(), kProvenances.end(), word);
  if (found == kProvenances.end()) {
    return std::nullopt;
  }
  return static_cast<Provenance>(found - kProvenances.begin());
}

} // namespace stepsim::train
