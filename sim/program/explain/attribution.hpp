#pragma once
// Where the period of a program goes (TRN 7.2): the seconds of the operations on its binding path,
// per iteration, summed by one label at a time. Each list of shares adds up to the period; what an
// operation took longer than its own seconds has a line of its own: `interference`, where computing
// and communication slow each other, and `contention`, where messages share a stream.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/explain/binding_path.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// A layer of a bucket or sharding unit, with what divides the unit's operations between its layers:
// seconds of forward and backward, and bytes for everything else.
struct UnitLayer {
  std::uint32_t layer{};
  double forward_s{};
  double backward_s{};
  double bytes{};
};

// Names and parts that a program itself does not hold; empty: units and layers go by their numbers
// from 0, and an operation that names a unit and no layer has no layer.
struct ProgramLabels {
  std::vector<std::string> layers;                // names
  std::vector<std::vector<UnitLayer>> unit_parts; // per unit
  std::string unit_noun = "unit";                 // "bucket"
};

struct Share {
  std::string name;
  double seconds{};
};

// Largest share first, equal ones by name.
using Shares = std::vector<Share>;

struct Attribution {
  Shares by_kind;  // words of kKinds
  Shares by_unit;  // "bucket 3"; "no bucket"
  Shares by_layer; // names or "layer 3"; "no layer"
  Shares by_link;  // "start-up", "bandwidth", "no exchange"; of a group "node start-up"
};

inline constexpr std::string_view kInterferenceShare = "interference";
inline constexpr std::string_view kContentionShare = "contention";
inline constexpr std::string_view kWaitingShare = "waiting";

[[nodiscard]] Attribution attribution(const Program& program, const BindingPath& path,
                                      const ProgramLabels& labels = {});

// Seconds per iteration above the operations' own; 0 without interference and contention.
[[nodiscard]] double stretched_s(const BindingPath& path);

} // namespace stepsim::program
