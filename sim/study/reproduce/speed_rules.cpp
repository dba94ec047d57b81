#include "study/reproduce/speed_rules.hpp"

#include <ranges>

#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/keys/training_keys.hpp"
#include "study/reproduce/paper_records.hpp"

namespace stepsim::reproduce {

namespace {

std::int64_t count(const io::Object& row, std::string_view name) {
  return std::llround(row_number(row, name));
}

template <class Rule>
const Rule& rule_of(const std::map<std::string, Rule, std::less<>>& rules, const std::string& file,
                    const io::Object& row, std::string_view name) {
  const std::string word = row_text(row, name);
  const auto found = rules.find(word);
  if (found == rules.end()) {
    throw InputError(
        file, row_text(row, "row"),
        base::unknown_word(name, word, base::collected<std::string_view>(std::views::keys(rules))));
  }
  return found->second;
}

struct Link {
  double latency_s{}, bandwidth_Bps{};
};

Link bus_of(const io::Object& row, const Scoreboard& rules) {
  return {rules.bus_latency_s, rule_of(rules.buses, rules.rows, row, "intra")};
}

Link fabric_of(const io::Object& row, const Scoreboard& rules) {
  constexpr double kBytesPerGigabit = 1e9 / 8;
  const FabricRule& rule = rule_of(rules.fabrics, rules.rows, row, "fabric");
  const double rate = row_number(row, "gbps_per_node") * kBytesPerGigabit;
  return {rate <= rule.slow_Bps ? rule.slow_latency_s : rule.latency_s, rate * rule.share};
}

// A ring through machines and their GPUs takes as long as a ring of its slowest link.
Link slower_of(const Link& a, const Link& b) {
  return {std::max(a.latency_s, b.latency_s), std::min(a.bandwidth_Bps, b.bandwidth_Bps)};
}

// The bytes that are sent for a value, over the bytes of the value: more of them make links slower.
double sent_per_value(const io::Object& row, std::int64_t value_bytes) {
  return row_number(row, "gradient_bytes_per_element") / static_cast<double>(value_bytes);
}

// The kind of link between the GPUs of a machine; "" if there is no rule.
std::string bus_kind(const io::Object& row, const Scoreboard& rules) {
  const std::string word = row_text(row, "intra");
  const auto found = std::ranges::find_if(
      rules.bus_kinds, [&](const auto& each) { return word.starts_with(each.first); });
  return found == rules.bus_kinds.end() ? std::string() : found->second;
}

std::string transport(const io::Object& row, const Scoreboard& rules) {
  const std::string word = row_text(row, "transport");
  return word.empty()
             ? std::string(
                   links::kCarriers[rule_of(rules.fabrics, rules.rows, row, "fabric").carrier])
             : word;
}

// Whether servers exchange the gradients; the GPUs of one machine do without those of machines.
bool has_servers(const MethodRule& method, bool one_machine) {
  return method.servers == ServerPlace::host ||
         (method.servers != ServerPlace::none && !one_machine);
}

io::Json network(const Link& link) {
  io::Json tree = io::Object{{"model", "alpha_beta"}, {"efficiency", 1}, {"reduction_Bps", 0}};
  io::set_members<&Link::latency_s, &Link::bandwidth_Bps>(link, tree);
  return tree;
}

// The machines of a row with their two networks, whose links take `slower` times as long per byte.
// The network of a single machine carries nothing.
io::Object machines(const io::Object& row, const Scoreboard& rules, double slower) {
  const std::int64_t nodes = count(row, "nodes");
  const std::int64_t per_node = count(row, "gpus_per_node");
  const auto slowed = [&](Link link) { return Link{link.latency_s, link.bandwidth_Bps / slower}; };
  const Link bus = slowed(bus_of(row, rules));
  io::Json between = network(nodes > 1 ? slowed(fabric_of(row, rules)) : bus);
  if (nodes > 1) {
    between.set("transport", transport(row, rules));
  }
  io::Object cluster{{"nodes", nodes},
                     {"gpus_per_node", per_node},
                     {"nics_per_node", 1},
                     {"network", std::move(between)}};
  if (per_node > 1) {
    io::Json inside = io::tree_of<&Link::latency_s, &Link::bandwidth_Bps>(bus);
    io::set_given(inside, "bus", bus_kind(row, rules));
    cluster.emplace_back("intra_network", std::move(inside));
  }
  return cluster;
}

double batches(const io::Object& row) { return std::max(1.0, row_number(row, "grad_accum")); }

constexpr std::array<std::string_view, 4> kUnits{"samples/s", "tokens/s", "steps/s", ""};
constexpr std::array<std::string_view, 8> kPrecisions{"amp",  "fp16", "bf16",      "fp8",
                                                      "fp32", "tf32", "tf32/fp32", ""};
constexpr std::size_t kReduced = 4; // of these, from the first on: computing in 16 or 8 bits
constexpr std::array<std::string_view, 3> kAnswers{"", "true", "false"};
bool counts_steps(const io::Object& row) { return row_text(row, "unit") == kUnits[2]; }

// A column of numbers: whether a row needs one, and what it may be.
struct NumberColumn {
  std::string_view name;
  bool (*is_needed)(const io::Object& row);
  bool whole = false;
  double least = 1; // of whole numbers
};
bool always(const io::Object&) { return true; }
bool never(const io::Object&) { return false; } // for readers
bool of_samples(const io::Object& row) { return !counts_steps(row); }
bool between_machines(const io::Object& row) {
  return row_number(row, "nodes") > 1 && row_text(row, "fabric") != "none";
}
template <const char* Name> bool if_given(const io::Object& row) {
  return !row_text(row, Name).empty();
}
constexpr char kGradAccum[] = "grad_accum";
constexpr char kSeqLen[] = "seq_len";

constexpr std::array kNumberColumns{NumberColumn{"base_measured", always},
                                    NumberColumn{"measured", always},
                                    NumberColumn{"nodes", always, true},
                                    NumberColumn{"gpus_per_node", always, true},
                                    NumberColumn{"gradient_bytes_per_element", always},
                                    NumberColumn{"gpus", of_samples, true},
                                    NumberColumn{"batch_per_gpu", of_samples},
                                    NumberColumn{"base_gpus", of_samples, true},
                                    NumberColumn{"gbps_per_node", between_machines},
                                    NumberColumn{kGradAccum, if_given<kGradAccum>, true, 0},
                                    NumberColumn{kSeqLen, if_given<kSeqLen>, true, 0},
                                    NumberColumn{"base_nodes", never},
                                    NumberColumn{"base_batch", never}};

// What is wrong with the number of a column; empty if nothing is.
std::string problem_of(const NumberColumn& number, const io::Object& row) {
  constexpr double kMost = 1e15;
  constexpr double kMostWhole = 1e9;
  const io::Json* cell = column(row, number.name);
  if (cell == nullptr) {
    return "the row has no such cell";
  }
  const double value = row_number(row, number.name);
  const bool is_in_range =
      number.whole ? value >= number.least && value <= kMostWhole && value == std::floor(value)
                   : value >= 1 / kMost && value <= kMost;
  if (cell->is_number() && is_in_range) {
    return "";
  }
  const std::string text = row_text(row, number.name);
  return "must be a " +
         (number.whole ? "whole number of " + base::shortest(number.least) + " to 1e9"
                       : std::string("number of 1e-15 to 1e15")) +
         ", got " + (text.empty() ? "an empty cell" : base::shown_value(text));
}

// Whether computing is in 16 or 8 bits: where the column does not say so, the precision does.
bool computes_reduced(const io::Object& row) {
  const std::string given = row_text(row, "reduced_precision");
  const auto reduced = std::span(kPrecisions).first(kReduced);
  return given.empty() ? std::ranges::find(reduced, row_text(row, "precision")) != reduced.end()
                       : given == "true";
}

double batch_s(const io::Object& row) {
  const double samples =
      counts_steps(row) ? 1 : row_number(row, "batch_per_gpu") * row_number(row, "base_gpus");
  return samples / row_number(row, "base_measured");
}

} // namespace

double row_number(const io::Object& row, std::string_view name) {
  const io::Json* value = column(row, name);
  return value != nullptr && value->is_number() ? value->as_double() : 0;
}

std::string row_text(const io::Object& row, std::string_view name) {
  const io::Json* value = column(row, name);
  return value == nullptr || value->is_null() ? std::string()
         : value->is_string()                 ? value->as_string()
                                              : io::compact(*value);
}

bool holds_number(std::string_view name) {
  return std::ranges::find(kNumberColumns, name, &NumberColumn::name) != kNumberColumns.end();
}

void require_predictable(const io::Object& row, const Scoreboard& rules) {
  const auto refuse = [&](const std::string& reason) {
    throw InputError(rules.rows, row_text(row, "row"), reason);
  };
  if (row_text(row, "base_measured").empty()) {
    refuse("no base measurement");
  }
  for (const NumberColumn& number : kNumberColumns) {
    if (!number.is_needed(row)) {
      continue;
    }
    if (const std::string problem = problem_of(number, row); !problem.empty()) {
      refuse(std::string(number.name) + ": " + problem);
    }
  }
  const std::int64_t gpus = count(row, "nodes") * count(row, "gpus_per_node");
  if (!counts_steps(row) && count(row, "gpus") != gpus) {
    refuse("gpus: must be nodes times gpus_per_node, " + std::to_string(gpus) + ", got " +
           row_text(row, "gpus"));
  }
  const auto require = [&](const char* name, const auto& words, const char* what) {
    const std::string word = row_text(row, name);
    if (std::ranges::find(words, word) == words.end()) {
      refuse(fmt::format("{}: must be {}, got {}", name, what, base::shown_value(word)));
    }
  };
  require("unit", kUnits, "samples/s, tokens/s or steps/s");
  require("reduced_precision", kAnswers, "true, false or empty");
  if (row_text(row, "reduced_precision").empty()) {
    require("precision", kPrecisions,
            "amp, fp16, bf16, fp8, fp32, tf32, tf32/fp32 or empty without reduced_precision");
  }
}

double samples_of(const io::Object& row) {
  return counts_steps(row)
             ? 1
             : row_number(row, "batch_per_gpu") * batches(row) * row_number(row, "gpus");
}

double measured_step_s(const io::Object& row) {
  return samples_of(row) / row_number(row, "measured");
}

double computing_s(const io::Object& row) { return batches(row) * batch_s(row); }

TableRule table_rule(const io::Object& row, const Scoreboard& rules, std::string_view name) {
  const std::size_t colon = name.find(':');
  if (const auto rule = rules.tables.find(name.substr(0, colon)); rule != rules.tables.end()) {
    return rule->second;
  }
  const auto elements =
      colon == std::string_view::npos ? std::nullopt : io::parse_real(name.substr(colon + 1));
  if (rules.other_table.empty() || !elements || !(*elements >= 1 && *elements <= 1e15)) {
    throw InputError(rules.rows, row_text(row, "row"),
                     "table " + base::shown_value("inline:" + std::string(name)) +
                         ": no rule for this table; one without a rule is "
                         "inline:NAME:PARAMETERS, a number of 1 to 1e15");
  }
  return {rules.other_table, *elements};
}

// Forward is a third of a batch. With accumulation all batches but the last come first, and overlap
// with nothing. Every key that a prediction depends on is named, so that a change of a default
// changes no prediction.
io::Json scenario_of(const io::Object& row, const Scoreboard& rules, const std::string& model,
                     double slower) {
  const std::int64_t nodes = count(row, "nodes");
  const std::int64_t per_node = count(row, "gpus_per_node");
  const bool one_machine = nodes == 1 && per_node > 1;
  const MethodRule& method = rule_of(rules.methods, rules.rows, row, "method");
  const bool on_machines =
      method.servers == ServerPlace::machines || method.servers == ServerPlace::workers;
  const bool on_host = method.servers == ServerPlace::host;
  const bool servers = has_servers(method, one_machine);
  const bool between = row_text(row, "fabric") != "none";

  // Workers of servers on machines are machines: what is inside them is not expressed.
  const Link bus = bus_of(row, rules);
  const Link link = on_host || !between || one_machine ? bus
                    : servers || per_node == 1         ? fabric_of(row, rules)
                                                       : slower_of(bus, fabric_of(row, rules));
  const std::int64_t ranks = on_host ? per_node : servers ? nodes : nodes * per_node;

  const std::int64_t value_bytes = row_number(row, "gradient_bytes_per_element") < 4 ? 2 : 4;
  const double factor = sent_per_value(row, value_bytes);
  const double batch = batch_s(row);
  io::Object workload{{"model", model},
                      {"batch_size", 1},
                      {"granularity", "tensor"},
                      {"measured", io::Object{{"forward_s", (batches(row) - 1) * batch + batch / 3},
                                              {"backward_s", batch * 2 / 3}}},
                      {"value_bytes", value_bytes}};
  if (count(row, "seq_len") > 0) {
    workload.emplace_back("sequence_length", count(row, "seq_len"));
  }

  io::Object training{{"algorithm", servers ? "parameter_server" : "sync_sgd"},
                      {"iterations", 3},
                      {"sync_s", 0},
                      {"update_s", 0}};
  if (servers) {
    const bool sharded = method.servers == ServerPlace::workers;
    training.emplace_back("mode", "sync");
    training.emplace_back("server_split", "even");
    training.emplace_back("placement", sharded ? "sharded" : "dedicated");
    if (!sharded) {
      training.emplace_back("servers", on_host ? per_node : nodes);
    }
  }

  const std::string schedule =
      one_machine && on_machines && method.schedule != "single" ? "wfbp" : method.schedule;
  io::Object communication{{"schedule", schedule},     {"chunking", "real"},
                           {"cost_form", "exact"},     {"next_forward", "per_layer"},
                           {"overlap_backward", true}, {"reduction_mode", "overlapped"}};
  if (const auto options = rules.schedules.find(schedule); options != rules.schedules.end()) {
    communication.insert(communication.end(), options->second.begin(), options->second.end());
  }
  if (!servers) {
    communication.emplace_back("exchange", "allreduce");
    communication.emplace_back("collective", "ring");
  }

  return io::Object{
      {"schema_version", 1},
      {"kind", "scenario"},
      {"name", row_text(row, "row")},
      {"workload", std::move(workload)},
      {"cluster", io::Object{{"nodes", ranks},
                             {"gpus_per_node", 1},
                             {"network", network({link.latency_s * slower,
                                                  link.bandwidth_Bps / factor / slower})}}},
      {"training", std::move(training)},
      {"communication", std::move(communication)},
      {"limits", io::Object{{"simulated_s", 1e9}}}}; // of steps of any length
}

io::Json typical_scenario_of(const io::Object& row, const Scoreboard& rules,
                             const std::string& model) {
  io::Json tree = scenario_of(row, rules, model, 1);
  io::Json& workload = *tree.find("workload");
  const std::int64_t value_bytes = workload.find("value_bytes")->as_integer();
  tree.set("cluster", machines(row, rules, sent_per_value(row, value_bytes)));
  io::Json& measured = *workload.find("measured");
  measured.set("gpus", count(row, "base_gpus"));
  io::Json& training = *tree.find("training");
  if (batches(row) > 1) {
    measured.set("forward_s", batch_s(row) / 3);
    training.set(study::keys::kMicroBatches.name, std::llround(batches(row)));
  }
  training.set("reduced_precision", computes_reduced(row));
  if (rule_of(rules.methods, rules.rows, row, "method").host_reduction) {
    tree.find("communication")->set("host_reduction", true);
  }
  tree.set("conditions", io::Object{{"kind", "typical"}});
  return tree;
}

std::string situation_of(const io::Object& row, const Scoreboard& rules) {
  const bool one_machine = count(row, "nodes") == 1;
  if (has_servers(rule_of(rules.methods, rules.rows, row, "method"), one_machine)) {
    return "servers";
  }
  if (one_machine) {
    return "one machine";
  }
  if (transport(row, rules) != links::kCarriers[links::Carrier::rdma]) {
    return "TCP";
  }
  const std::string bus = count(row, "gpus_per_node") == 1 ? "" : bus_kind(row, rules);
  return bus.empty() || bus == links::kBuses[links::Bus::pcie] ? "RDMA, GPUs on PCIe"
                                                               : "RDMA, GPUs on NVLink";
}

io::Json scaled_table(const io::Json& table, const std::string& name, double elements) {
  io::Json scaled = table;
  const double factor = elements / table.find("totals")->find("elements")->as_double();
  std::int64_t total = 0;
  for (io::Json& layer : scaled.find("layers")->as_array()) {
    for (io::Json& tensor : layer.find("tensors")->as_array()) {
      double size = 1;
      for (const io::Json& side : tensor.find("shape")->as_array()) {
        size *= side.as_double();
      }
      const auto count = std::max<std::int64_t>(1, std::llrint(size * factor));
      tensor.set("shape", io::Array{count});
      total += count;
    }
  }
  scaled.set("name", name);
  scaled.find("totals")->set("elements", total);
  return scaled;
}

} // namespace stepsim::reproduce
