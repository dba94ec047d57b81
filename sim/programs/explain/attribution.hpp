#pragma once
// Divides the period of a program into shares (TRN 7.2): the seconds per iteration of the
// operations on its binding path (binding_path.hpp) are summed by kind, by unit, by layer and by
// link. The shares of each list add up to the period. Time by which an operation takes longer than
// its own seconds is a share by itself: `interference` if compute and communication slow each
// other, `contention` if messages share a stream. `waiting` is time without an operation.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "programs/explain/binding_path.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// A layer of a bucket or sharding unit, with the weights that divide the unit's operations among
// its layers: forward_s for forwards, backward_s for backwards, bytes for all other operations.
struct UnitLayer {
  std::uint32_t layer{};
  double forward_s{};
  double backward_s{};
  double bytes{};
};

// Names and parts that a program itself does not hold. If they are empty, units and layers are
// shown by number, from 0, and an operation with a unit but no layer is attributed to no layer.
struct ProgramLabels {
  std::vector<std::string> layers;                // [layer]: name
  std::vector<std::vector<UnitLayer>> unit_parts; // [unit]: its layers
  std::string unit_noun = "unit";                 // what a unit is called, such as "bucket"
};

struct Share {
  std::string name;
  double seconds{};
};

// Shares, the largest first, equal shares by name.
using Shares = std::vector<Share>;

struct Attribution {
  Shares by_kind;  // words of kKinds
  Shares by_unit;  // "bucket 3"; "no bucket"
  Shares by_layer; // name of the layer, or "layer 3"; "no layer"
  // "no exchange"; "start-up" and "bandwidth" for exchanges of all ranks, with the name of the
  // group in front for exchanges of one of Program::groups: "node start-up"
  Shares by_link;
};

inline constexpr std::string_view kInterferenceShare = "interference";
inline constexpr std::string_view kContentionShare = "contention";
inline constexpr std::string_view kWaitingShare = "waiting";

[[nodiscard]] Attribution attribution(const Program& program, const BindingPath& path,
                                      const ProgramLabels& labels = {});

} // namespace stepsim::programs
