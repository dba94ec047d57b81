#pragma once
// Rules by which measured speeds of distributed training are predicted (REP 3.6). A row of the
// table has the columns of reproduce/scoreboard/README.md. Nothing in a rule is fitted to a row:
// links have the rate of their kind, and computing takes what the row's own base measurement says,
// which is the speed on the fewest GPUs of the same source. reproduce/scoreboard/rules.md explains
// every rule, and figures.json holds their numbers.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "json/json.hpp"

namespace stepsim::reproduce {

// Where parameter servers run. `machines`: one server per machine of workers, on machines of their
// own; `workers`: one on each worker; `host`: the processor of the one machine.
enum class ServerPlace { none, machines, workers, host };
inline constexpr auto kServerPlaces = base::words<ServerPlace>({{ServerPlace::none, "none"},
                                                                {ServerPlace::machines, "machines"},
                                                                {ServerPlace::workers, "workers"},
                                                                {ServerPlace::host, "host"}});

struct FabricRule {
  double latency_s{};
  double share{}; // of the line rate that is payload
  // Latency of fabrics with a line rate of at most slow_Bps, instead of latency_s.
  double slow_Bps{}, slow_latency_s{};
};
struct MethodRule {
  std::string schedule;
  ServerPlace servers{};
};
// A shipped layer table whose tensors are scaled to so many elements together.
struct TableRule {
  std::string model;
  double elements{};
};
// Pairs of a prefix and a name: a word that starts with the prefix belongs to this name.
using Names = std::vector<std::pair<std::string, std::string>>;

struct Scoreboard {
  std::string rows; // file of the rows, for errors
  double bus_latency_s{};
  std::map<std::string, double, std::less<>> buses; // bytes/s between the GPUs of a machine
  std::map<std::string, FabricRule, std::less<>> fabrics;
  std::map<std::string, MethodRule, std::less<>> methods;
  std::map<std::string, io::Object, std::less<>> schedules; // keys of /communication
  std::map<std::string, TableRule, std::less<>> tables;
  // Factor for the interval of a prediction: its ends are predicted with links that take `interval`
  // times as long, and 1 / `interval` times as long.
  double interval = 1;
  // By prefixes of the column `family`, and of the column `model`.
  Names publishers, families;
};

// A column of a row as a number, 0 where the source says nothing, and as a text.
[[nodiscard]] double row_number(const io::Object& row, std::string_view name);
[[nodiscard]] std::string row_text(const io::Object& row, std::string_view name);

// Seconds of a step: measured, and computing alone by the base measurement.
[[nodiscard]] double measured_step_s(const io::Object& row);
[[nodiscard]] double computing_s(const io::Object& row);
// Samples or tokens that all GPUs together process in a step.
[[nodiscard]] double samples_of(const io::Object& row);

// The scenario of a row whose model is named `model`, with links that take `slower` times as long.
// Throws InputError for a word that no rule has.
[[nodiscard]] io::Json scenario_of(const io::Object& row, const Scoreboard& rules,
                                   const std::string& model, double slower);

// The layer table with its tensors scaled, named `name`.
[[nodiscard]] io::Json scaled_table(const io::Json& table, const std::string& name,
                                    double elements);

} // namespace stepsim::reproduce
