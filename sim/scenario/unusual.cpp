#include "scenario/scenario_tree.hpp"

#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study {

namespace {

constexpr double kLeastRate = 1e3;     // bytes/s
constexpr double kMostRate = 1e14;     // bytes/s
constexpr double kMostLatency = 10;    // s, refused itself: 10 is what lacks us most often
constexpr double kLeastBucket = 256;   // bytes
constexpr double kMostInUnit = 100000; // a number that may stand before Gbps or us

// A guess at the unit is made only for numbers that could stand before it: 25 may be 25 Gbps, 1e-3
// not.
std::string sentence(double value, std::string_view unit, std::string_view meant,
                     std::string_view bound) {
  const std::string number = base::shortest(value);
  std::string text = number + " " + std::string(unit) + ": ";
  if (value >= 1 && value <= kMostInUnit) {
    text += "did you mean \"" + number + std::string(meant) + "\"? ";
  }
  return text + std::string(bound) + R"( needs "allow_unusual": true)";
}

} // namespace

std::optional<std::string> unusual(std::string_view key, double value) {
  if (key.ends_with(io::key_of<&Network::bandwidth_Bps>()) && value > 0 && value < kLeastRate) {
    return sentence(value, "bytes/s", "Gbps", "Below 1 kB/s");
  }
  if (key.ends_with(io::key_of<&Network::bandwidth_Bps>()) && value > kMostRate) {
    return sentence(value, "bytes/s", "", "Above 1e14 bytes/s");
  }
  if ((key.ends_with("latency_s") || key == "delay_s") && value >= kMostLatency) {
    return sentence(value, "s", "us", "From 10 s on");
  }
  if (key.ends_with(keys::kBucketBytes.name) && value > 0 && value < kLeastBucket) {
    return sentence(value, "bytes", "MiB", "Below 256 bytes");
  }
  return std::nullopt;
}

// Recursive, because links stand in topologies, lists and objects at several depths.
void refuse_unusual(const io::Json& tree, bool allowed, io::Problems& problems) {
  if (allowed) {
    return;
  }
  if (tree.is_array()) {
    for (const io::Json& element : tree.as_array()) {
      refuse_unusual(element, allowed, problems);
    }
  } else if (tree.is_object()) {
    for (const auto& [key, member] : tree.as_object()) {
      const auto number = io::number_of(member);
      const auto text = number ? unusual(key, *number) : std::nullopt;
      if (text) {
        problems.add(tree, key, *text);
      }
      refuse_unusual(member, allowed, problems);
    }
  }
}

} // namespace stepsim::study
