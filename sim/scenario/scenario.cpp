// Objects are read in the order of their dependences: defaults of communication follow from cluster
// and training. What needs several objects is checked after all of them, and in stages: a later
// check may rely on what the earlier ones found right.
#include "scenario/scenario.hpp"

#include "document/json_text.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_fabric.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_parts.hpp"
#include "scenario/scenario_schedule.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

namespace {

// A workload of the scenario and the pointer at which it stands.
struct PlacedWorkload {
  const WorkloadSource& source;
  const layers::Workload& workload;
  std::string pointer;
};

std::vector<PlacedWorkload> all_workloads(const io::Json& tree, const Scenario& scenario) {
  const io::Json* place = tree.find("workload");
  const bool list = place != nullptr && place->is_array();
  std::vector<PlacedWorkload> all{
      {scenario.workload_source, scenario.workload, list ? "/workload/0" : "/workload"}};
  for (const OtherJob& job : scenario.other_jobs) {
    all.push_back({job.source, job.workload, "/workload/" + std::to_string(all.size())});
  }
  return all;
}

// ddp keeps one open bucket per element type: with several types every gradient must name its own.
void check_dtypes(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (scenario.communication.schedule != buckets::Schedule::ddp) {
    return;
  }
  for (const PlacedWorkload& job : all_workloads(tree, scenario)) {
    const auto& gradients = job.workload.gradients;
    const auto unknown = std::ranges::find(gradients, "", &layers::Gradient::dtype);
    const bool any_known = std::ranges::any_of(
        gradients, [](const layers::Gradient& gradient) { return !gradient.dtype.empty(); });
    if (job.source.layers && any_known && unknown != gradients.end()) {
      const io::Json* layer =
          io::resolve(tree, job.pointer + "/layers/" + std::to_string(unknown->layer));
      problems.add(*layer, "dtype", "needed because bucket rules are per dtype");
    }
  }
}

// exhaustive search is for small cases only.
// The number of plans doubles with every gradient.
void check_exhaustive(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (scenario.communication.schedule != buckets::Schedule::exhaustive) {
    return;
  }
  for (const PlacedWorkload& job : all_workloads(tree, scenario)) {
    const auto sent =
        std::ranges::count_if(job.workload.gradients, [](const layers::Gradient& gradient) {
          return gradient.bytes.value > 0;
        });
    if (sent > buckets::kMaxExhaustiveItems) {
      problems.add(*io::resolve(tree, "/communication"), "schedule",
                   "exhaustive search is limited to {} gradients, got {}; use optimal",
                   buckets::kMaxExhaustiveItems, sent);
    }
  }
}

// Published formulas know one kind of link.
void check_cost_form(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (scenario.communication.options.cost_form != collectives::CostForm::exact &&
      scenario.cluster.intra && scenario.cluster.gpus_of_domain() > 1) {
    problems.add(*io::resolve(tree, "/communication"), "cost_form",
                 "must be exact: formulas need identical ranks and links");
  }
}

// Where servers count: keys of an algorithm that a point of a sweep does not have are left out.
void check_servers(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  using collectives::Placement;
  const collectives::Options& options = scenario.communication.options;
  const io::Json* training = tree.find("training");
  if (!scenario.communication.has_servers() || training == nullptr) {
    return;
  }
  const std::int64_t ranks = scenario.cluster.ranks();
  if (options.placement == Placement::sharded && options.servers != ranks) {
    problems.add(
        *training, "servers",
        fmt::format("sharded means one server per worker ({}), got {}", ranks, options.servers));
  } else if (options.placement == Placement::colocated && options.servers > ranks) {
    problems.add(*training, "servers",
                 fmt::format("must be an integer in [1, {}], got {}", ranks, options.servers));
  }
  if (scenario.training.whole_split && options.placement != Placement::dedicated) {
    problems.add(*training, "server_split", "whole tensors need dedicated servers");
  }
}

// An object that is absent reads as empty, so that its required keys are reported by their
// pointers.
io::Json empty_object(const io::Json& tree, std::string_view key) {
  io::Json empty{io::Object{}};
  empty.set_origin(tree.file_pointer(), tree.pointer() + "/" + std::string(key), tree.line());
  return empty;
}

// Reads one object of the top level, reporting the keys that `parse` does not know. The object is
// not copied, because a workload may hold many layers.
template <class Parse>
void parse_part(io::Fields& top, std::string_view key, const ParseContext& context, Parse parse) {
  const io::Json* given = top.any(key);
  const io::Json empty = given == nullptr ? empty_object(top.json(), key) : io::Json();
  io::Fields fields(given == nullptr ? empty : *given, context.problems, top.row(key));
  parse(fields);
  fields.no_more();
}

// One key after the other, because a key may have no meaning only because of another one that has
// none.
Scenario scenario_without(const MeaninglessKey& key, io::Json tree, Files& files) {
  drop_key(tree, key.pointer);
  assert(!is_given(tree, key.pointer));
  Scenario scenario = parse_scenario(tree, files, Leftovers::ignore);
  scenario.left_out.insert(scenario.left_out.begin(), key);
  return scenario;
}

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

// A network given as a word is a calibration, and a library as a word is its name; they are
// expanded first, because readers of the parts expect objects.
// Problems are thrown between the stages and not at the end of each reader, so that as many as
// possible are reported at once and none that only follows from another.
Scenario parse_scenario(const io::Json& tree, Files& files, Leftovers leftovers) {
  for (const std::string_view place :
       {"/conditions", "/cluster/network", "/cluster/intra_network", "/communication/library",
        "/training/sharding", "/training/sharding/parameter_compression",
        "/training/outer_compression"}) {
    if (const io::Json* word = io::resolve(tree, place); word != nullptr && word->is_string()) {
      return parse_scenario(with_short_forms_expanded(tree), files, leftovers);
    }
  }
  io::Problems problems;
  const ParseContext context{problems, files, leftovers};
  Scenario scenario;
  io::Fields top(tree, problems, keys::kScenario);
  top.header("scenario");
  scenario.name = top.string("name", "");
  scenario.seed = top.integer("seed");
  scenario.method = collectives::parse_method(top.word("method"));
  parse_part(top, "limits", context, [&](io::Fields& fields) {
    scenario.simulated_limit = {fields.number("simulated_s")};
  });
  const io::Json* workload = tree.find("workload");
  if (workload != nullptr && workload->is_array()) {
    parse_jobs(top, context, scenario);
  } else {
    parse_part(top, "workload", context,
               [&](io::Fields& fields) { parse_workload(fields, context, scenario); });
  }
  parse_library(tree, context, scenario);
  parse_part(top, "cluster", context,
             [&](io::Fields& fields) { parse_cluster(fields, context, scenario); });
  parse_part(top, "training", context,
             [&](io::Fields& fields) { parse_training(fields, context, scenario); });
  parse_part(top, "communication", context,
             [&](io::Fields& fields) { parse_communication(fields, context, scenario); });
  parse_part(top, "variability", context,
             [&](io::Fields& fields) { parse_variability(fields, context, scenario); });
  parse_part(top, "job", context, [&](io::Fields& fields) { parse_job(fields, scenario); });
  parse_conditions(top, context, scenario);
  scenario.allow_unusual = top.boolean("allow_unusual");
  if (const io::Json* cluster = tree.find("cluster")) {
    refuse_unusual(*cluster, scenario.allow_unusual, problems);
  }
  // A bucket that holds less than one of many values is no bucket; small ones are for small layers.
  const bool small_layers =
      std::ranges::none_of(scenario.workload.gradients, [](const layers::Gradient& gradient) {
        return gradient.bytes.value >= 1'000'000;
      });
  if (const io::Json* communication = tree.find("communication")) {
    refuse_unusual(*communication, scenario.allow_unusual || small_layers, problems);
  }
  top.no_more();
  problems.throw_if_any();
  check_jobs(tree, problems, scenario);
  check_dtypes(tree, problems, scenario);
  check_exhaustive(tree, problems, scenario);
  check_cost_form(tree, problems, scenario);
  check_servers(tree, problems, scenario);
  resolve_fabric(tree, context, scenario);
  problems.throw_if_any();
  resolve_library(tree, context, scenario);
  resolve_curve(tree, context, scenario);
  require_networks(tree, context, scenario);
  resolve_contention(tree, scenario);
  add_profile_warnings(scenario);
  if (leftovers == Leftovers::ignore) {
    if (const auto keys = meaningless_keys(tree, scenario); !keys.empty()) {
      return scenario_without(keys.front(), tree, files);
    }
  }
  warn_of_recorded_training(tree, scenario);
  warn_of_other_gpu(scenario);
  check_meaning(tree, context, scenario);
  check_overlap(tree, context, scenario);
  problems.throw_if_any();
  check_local(tree, problems, scenario);
  problems.throw_if_any();
  check_conditions(tree, problems, scenario);
  std::optional<Scenario> under; // its conditions: a schedule asks what its messages cost there
  if (is_typical(scenario) && problems.empty()) {
    under = scenario;
    apply_conditions(*under);
  }
  const Scenario& sends = under ? *under : scenario;
  check_schedule(tree, problems, has_islands(scenario.training) ? island_of(sends) : sends);
  check_sharding(tree, problems, scenario);
  problems.throw_if_any();
  if (const Seconds loss = scenario.training.loss; loss.value > 0) {
    scenario.workload.add_loss(loss);
    for (OtherJob& job : scenario.other_jobs) {
      job.workload.add_loss(loss);
    }
  }
  if (scenario.communication.options.cost_form != collectives::CostForm::exact) {
    scenario.warnings.emplace_back("cost_form is not exact: times follow a published formula and "
                                   "can lie below what the network can do");
  }
  apply_conditions(scenario);
  return scenario;
}

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
      if (const auto text = number ? unusual(key, *number) : std::nullopt) {
        problems.add(tree, key, *text);
      }
      refuse_unusual(member, allowed, problems);
    }
  }
}

} // namespace stepsim::study
