#pragma once
// Rules by which measured speeds of distributed training are predicted (REP 3.6). A row of the
// table has the columns of reproduce/scoreboard/README.md. Nothing in a rule is fitted to a row:
// latency and rate of links follow from their kind and their line rate, and the computing time from
// the base measurement of the row, which is the speed on the fewest GPUs in the same source.
// reproduce/scoreboard/rules.md explains every rule, and figures.json holds their numbers.

#include "document/json.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::reproduce {

// Where parameter servers run. `machines`: one server per machine of workers, on machines of their
// own; `workers`: one on each worker; `host`: the processor of the one machine.
enum class ServerPlace { none, machines, workers, host };
inline constexpr auto kServerPlaces = base::words<ServerPlace>();

struct FabricRule {
  double latency_s{};
  double share{};           // fraction of the line rate that is payload
  links::Carrier carrier{}; // of rows whose column `transport` is empty
  // If the line rate is at most slow_Bps, the latency is slow_latency_s instead of latency_s.
  double slow_Bps{}, slow_latency_s{};
};
struct MethodRule {
  std::string schedule; // schedule that sends as the method does
  ServerPlace servers{};
  bool host_reduction = false; // sums on the host's processor
};
// A layer table that is made from a shipped one by scaling its tensors.
struct TableRule {
  std::string model; // name of the shipped table
  double elements{}; // elements of all scaled tensors together
};
// Pairs of a prefix and a name: a word that starts with the prefix belongs to this name.
using Names = std::vector<std::pair<std::string, std::string>>;

// The rules. The keys of a map are the words that rows use for a bus, a fabric, a method or a layer
// table; `schedules` is by name of the schedule.
struct Scoreboard {
  std::string rows;                                 // name of the file with the rows, for errors
  double bus_latency_s{};                           // latency of a message inside a machine
  std::map<std::string, double, std::less<>> buses; // bytes/s between the GPUs of a machine
  Names bus_kinds; // words of links::kBuses, by prefixes of the words for a bus
  std::map<std::string, FabricRule, std::less<>> fabrics;
  std::map<std::string, MethodRule, std::less<>> methods;
  std::map<std::string, io::Object, std::less<>> schedules; // keys of /communication
  std::map<std::string, TableRule, std::less<>> tables;
  // Shipped table that `inline:NAME:PARAMETERS` is made from if NAME has no rule; empty: none.
  std::string other_table;
  // Factor for the interval of a prediction: its ends are predicted with links that take `interval`
  // times as long, and 1 / `interval` times as long.
  double interval = 1;
  // Publishers by prefixes of the column `family`, and families by prefixes of the column `model`.
  Names publishers, families;
};

// Return a column of a row as a number, 0 if it has none, and as a text, "" if the column is
// absent or null.
[[nodiscard]] double row_number(const io::Object& row, std::string_view name);
[[nodiscard]] std::string row_text(const io::Object& row, std::string_view name);

// Whether the cells of this column are numbers; those of all other columns are texts.
[[nodiscard]] bool holds_number(std::string_view name);
// Throws InputError, which names the column and its cell, if a number that the prediction of the
// row needs is missing or out of range, if `gpus` is not nodes times gpus_per_node, or if
// `reduced_precision` is neither true, false nor empty.
void require_predictable(const io::Object& row, const Scoreboard& rules);

// Return the seconds of a step: as measured, and of computing alone by the base measurement, of a
// row that is predictable.
[[nodiscard]] double measured_step_s(const io::Object& row);
[[nodiscard]] double computing_s(const io::Object& row);
// Returns what the unit of the row counts in a step of all GPUs: samples or tokens, or 1 if the
// unit is steps/s.
[[nodiscard]] double samples_of(const io::Object& row);

// Returns the rule of a layer table "NAME" or "NAME:PARAMETERS" that is made from a shipped one.
// Throws InputError if there is none.
[[nodiscard]] TableRule table_rule(const io::Object& row, const Scoreboard& rules,
                                   std::string_view name);

// Returns the scenario of a row. `model` is the name or the path of its layer table; links take
// `slower` times as long. Throws InputError if a word of the row has no rule.
[[nodiscard]] io::Json scenario_of(const io::Object& row, const Scoreboard& rules,
                                   const std::string& model, double slower);

// Returns the scenario of a row under typical conditions (CON 6): machines with both networks, each
// at its nominal rate, and accumulated batches as micro-batches. Throws as scenario_of does.
[[nodiscard]] io::Json typical_scenario_of(const io::Object& row, const Scoreboard& rules,
                                           const std::string& model);

// Returns what the prediction of a row has to do with: "servers", "one machine", "TCP", "RDMA, GPUs
// on PCIe" (or alone, or on a link without a kind) or "RDMA, GPUs on NVLink" (or xGMI).
[[nodiscard]] std::string situation_of(const io::Object& row, const Scoreboard& rules);

// Returns the layer table under the name `name`, with its tensors scaled to about `elements`
// elements together. Every tensor becomes a vector of at least one element.
[[nodiscard]] io::Json scaled_table(const io::Json& table, const std::string& name,
                                    double elements);

} // namespace stepsim::reproduce
