// The defaults come from the list that results show (scenario/scenario_tree.hpp), so that a new
// default that decides a time is written here before anybody thinks of it.
#include "study/first_scenario.hpp"

#include <filesystem>
#include <system_error>

#include "base/printable.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "run/memory_figures.hpp"
#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_training.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrace = "resnet50.ddp.2xa100"; // shipped
constexpr std::string_view kNetwork = "25g-tcp";
constexpr std::int64_t kNodes = 8;

// Written whether a result lists them or not: what users change first.
constexpr std::array<std::string_view, 2> kAlwaysWritten{"/training/algorithm",
                                                         "/communication/collective"};

// The way from the folder of `output` to `path`. Links are resolved first: ".." after a link does
// not lead back.
std::string relative_to_output(const fs::path& path, const std::string& output) {
  fs::path folder = output == "-" ? fs::path() : fs::path(output).parent_path();
  folder = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder);
  return fs::weakly_canonical(path).lexically_relative(folder).generic_string();
}

// Editors look for the schema beside the file, or at an address. A way out of the folder is lost
// when the file is moved, which an address is not; files in the data folder move with it.
std::string schema_address(const fs::path& data, const fs::path& path, const std::string& output) {
  constexpr std::string_view kKept = "-._~/"; // RFC 3986
  const fs::path up = relative_to_output(data, output);
  const bool outside =
      std::ranges::any_of(up, [](const fs::path& step) { return step != ".." && step != "."; });
  const std::string way = relative_to_output(path, output);
  return way.starts_with("../") && outside
             ? "file://" + base::percent_encoded(fs::weakly_canonical(path).generic_string(), kKept)
             : base::percent_encoded(way, kKept);
}

std::string stem(const io::Json& name) {
  const std::string file = fs::path(name.as_string()).filename().string();
  return file.substr(0, file.find(".json"));
}

// What the file calls itself: the workload, the kind of machines and what else was asked for. A
// number would be wrong where --set or --over changes it.
std::string name_of(const io::Json& tree) {
  const io::Json* workload = io::resolve(tree, "/workload/trace");
  workload = workload == nullptr ? io::resolve(tree, "/workload/model") : workload;
  std::string name = workload != nullptr && workload->is_string() ? stem(*workload) : "training";
  if (const io::Json* preset = io::resolve(tree, "/cluster/preset");
      preset != nullptr && preset->is_string()) {
    name += " on " + stem(*preset);
  }
  if (is_given(tree, "/variability")) {
    name += ", workers and steps as they varied in the trace";
  }
  return name;
}

// Chooses what nobody asked for, and says so.
void fill_in(io::Json& tree, std::vector<std::string>& assumed) {
  const auto choose = [&](std::string_view pointer, io::Json value, std::string words) {
    io::assign(tree, pointer, std::move(value));
    assumed.push_back(std::move(words));
  };
  const bool model = is_given(tree, "/workload/model");
  if (!model && !is_given(tree, "/workload/trace")) {
    choose("/workload/trace", kTrace, "trace " + std::string(kTrace));
  }
  if (model && !is_given(tree, "/workload/batch_size")) {
    choose("/workload/batch_size", 1, "batch_size 1");
  }
  if (!is_given(tree, "/cluster/nodes")) {
    choose("/cluster/nodes", kNodes, "nodes " + std::to_string(kNodes));
  }
  const io::Json& nodes = *io::resolve(tree, "/cluster/nodes");
  const bool alone = nodes.is_number() && nodes.as_double() == 1;
  if (!alone && !is_given(tree, "/cluster/network") && !is_given(tree, "/cluster/preset")) {
    choose("/cluster/network", kNetwork, "network " + std::string(kNetwork));
  }
}

// A trace that came with the program is named: its place on this machine is not that on another.
void name_shipped_trace(io::Json& tree, const Files& files) {
  const io::Json* trace = io::resolve(tree, "/workload/trace");
  if (trace == nullptr || !trace->is_string() || is_shipped_name(trace->as_string())) {
    return;
  }
  for (const auto& [name, path] : shipped_files(files.data_folder(), kShippedTraces)) {
    if (io::same_file(path_of(*trace), path)) {
      io::assign(tree, "/workload/trace", name);
      return;
    }
  }
}

// A default is written as a key, unless it comes from what the scenario names: the values of a node
// type or of a network stay with it, so that another one in its place has its own.
bool is_written(const DefaultValue& value, const io::Json& tree) {
  if (value.value.is_null() || value.value.is_object() || value.from_node) {
    return false;
  }
  constexpr std::string_view kInNetwork = "/cluster/network/";
  if (value.pointer.starts_with(kInNetwork) && !is_given(tree, "/cluster/network")) {
    return false;
  }
  return value.decisive || std::ranges::find(kAlwaysWritten, value.pointer) != kAlwaysWritten.end();
}

// A new file has the present names of profiles.
void renew_names(io::Json& tree, std::vector<std::string>& said) {
  for (const std::string_view pointer :
       {"/cluster/network/calibration", "/cluster/intra_network/calibration"}) {
    if (const io::Json* given = io::resolve(tree, pointer); given && given->is_string()) {
      std::string name = given->as_string();
      renew_name(name, said);
      io::assign(tree, pointer, std::move(name));
    }
  }
}

// What the trace recorded and the user did not say.
std::vector<std::string> take_from_trace(io::Json& tree, const Scenario& scenario) {
  RecordedTraining recorded = recorded_training(scenario.workload, scenario.cluster);
  if (is_given(tree, "/training")) {
    return {};
  }
  if (!recorded.taken.empty()) {
    io::assign(tree, "/training", std::move(recorded.keys));
  }
  return std::move(recorded.taken);
}

// Typical conditions, where they are defined: what is in the way is said.
void choose_conditions(io::Json& tree, Files& files, std::vector<std::string>& assumed) {
  if (is_given(tree, "/conditions")) {
    return;
  }
  (void)parse_scenario(tree, files); // what is wrong without them is not in their way
  set_conditions(ConditionsKind::typical, tree);
  try {
    (void)parse_scenario(tree, files);
    assumed.emplace_back("conditions typical");
  } catch (const InputError& error) {
    set_conditions(ConditionsKind::ideal, tree);
    assumed.push_back("conditions ideal (" + error.problems().front().where + ": " +
                      error.problems().front().message + ")");
  }
}

// The least sharding with which a GPU holds a model that it does not hold without.
void choose_sharding(io::Json& tree, Files& files, FirstScenario& first) {
  const Scenario alone = parse_scenario(tree, files);
  std::string found = exceeds_text(run(alone).summary);
  if (found.empty() || alone.cluster.ranks() == 1 || !is_given(tree, "/workload/model") ||
      is_given(tree, "/training")) {
    return;
  }
  constexpr std::string_view kStrategy = "/training/sharding/strategy";
  for (const ShardingStrategy strategy :
       {ShardingStrategy::zero1, ShardingStrategy::zero2, ShardingStrategy::full_shard}) {
    const std::string word(kShardingStrategies[strategy]);
    io::assign(tree, kStrategy, word);
    const Summary summary = run(parse_scenario(tree, files)).summary;
    first.exceeds_memory = !summary.memory_fits.value_or(false);
    if (!first.exceeds_memory || strategy == ShardingStrategy::full_shard) {
      first.memory = found + " without sharding; sharding " + word + ": " +
                     memory_verdict(summary.memory_bytes, summary.memory_high_bytes,
                                    summary.memory_capacity_bytes, summary.memory_fits);
      break;
    }
  }
}

} // namespace

// The tree is read as it was asked for, which finds what the user got wrong; with what the trace
// recorded and its conditions, which gives the defaults; and as the file will be read.
FirstScenario first_scenario(io::Json given, Files& files, const std::string& output) {
  FirstScenario first;
  io::Json tree = std::move(given);
  fill_in(tree, first.assumed);
  name_shipped_trace(tree, files);
  tree = with_short_forms_expanded(std::move(tree));
  renew_names(tree, first.assumed);
  first.from_trace = take_from_trace(tree, parse_scenario(tree, files));
  choose_conditions(tree, files, first.assumed);
  choose_sharding(tree, files, first);
  const Scenario scenario = parse_scenario(tree, files);
  first.nodes = scenario.cluster.nodes;
  const auto late =
      std::ranges::find_if(scenario.workload.warnings, [](const std::string& warning) {
        return warning.starts_with("host-bound:");
      });
  first.host_bound = late == scenario.workload.warnings.end() ? "" : *late;
  const std::vector<DefaultValue> defaults = defaults_that_decide(tree, scenario);
  if (std::string text = defaults_text(defaults); !text.empty()) {
    first.assumed.push_back(std::move(text));
  }
  for (const DefaultValue& each : defaults) {
    if (is_written(each, tree)) {
      io::assign(tree, each.pointer, each.value);
    }
  }
  first.name = name_of(tree);
  tree = with_names_relative_to(std::move(tree), output);
  // Without it the file is as good; an address where nothing lies would be a complaint of editors.
  const fs::path data(files.data_folder());
  const fs::path schema = data / "schemas" / "scenario.schema.json";
  if (std::error_code none; fs::is_regular_file(schema, none)) {
    tree.set("$schema", schema_address(data, schema, output));
  }
  tree.set("schema_version", 1);
  tree.set("kind", "scenario");
  tree.set("name", first.name);
  first.tree = io::parse_json(io::pretty(tree), output == "-" ? "" : output);
  (void)parse_scenario(first.tree, files); // what is written can be read
  return first;
}

} // namespace stepsim::study
