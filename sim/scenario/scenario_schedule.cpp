// The schedule of a scenario and its option keys (MER 5, 6), and what goes with which schedule.

#include "scenario/scenario_schedule.hpp"

#include "buckets/sending.hpp"
#include "document/json_text.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

// Messages that are sums of the messages of all ranks: such a message may be split or merged at
// will.
bool is_summed(collectives::CompressionMethod method) {
  const collectives::CompressionKind kind = collectives::row(method).kind;
  return kind == collectives::CompressionKind::dense || kind == collectives::CompressionKind::codec;
}

// Whether a message takes a start-up and seconds per byte on links that are all equal.
bool is_line(const Scenario& scenario) {
  collectives::Collective plain = exchange_of(scenario);
  plain.links.fabric.reset();
  plain.links.all = {.latency_s = 1e-6, .per_byte_s = 1e-9};
  return programs::planner_cost(plain).is_linear();
}

// Reads all options; options that are not given have the defaults of the planner.
// `bytes_of_element` is the bytes per parameter, because the presets of schedule `priority` have
// sizes in parameters.
// Keys that the planner does not have are read as well and keep their values.
buckets::ScheduleOptions read_schedule_options(io::Fields& fields, const buckets::Planner& planner,
                                               std::int64_t bytes_of_element) {
  buckets::ScheduleOptions options = buckets::default_options(planner);
  for (const io::Bound<buckets::ScheduleOptions>& row : keys::kScheduleOptions) {
    if (row.read == nullptr) {
      continue;
    }
    row.read(fields, row.key, options);
    if (row.key.name == "preset") { // before the options that it has values for
      options = buckets::with_preset(options, options.preset, bytes_of_element);
    }
  }
  return options;
}

} // namespace

// The layer that `json` names or counts; nothing, with a problem, if there is none or several.
std::optional<std::uint32_t> layer_of(const io::Json& json, const layers::Workload& workload,
                                      io::Problems& problems) {
  if (json.is_string()) {
    std::optional<std::uint32_t> found;
    for (std::uint32_t l = 0; l < workload.layers.size(); ++l) {
      if (workload.layers[l].name == json.as_string()) {
        if (found) {
          problems.add(json, "several layers are called " + json.as_string() +
                                 ": give their places, from 0");
          return std::nullopt;
        }
        found = l;
      }
    }
    if (!found) {
      problems.add(json, "no layer is called " + json.as_string());
    }
    return found;
  }
  const auto count = static_cast<double>(workload.layers.size());
  const auto place = io::checked_integer(json, io::between(0, count - 1), problems);
  return place ? std::optional(static_cast<std::uint32_t>(*place)) : std::nullopt;
}

// Every layer with gradients in one group, and no other layer.
std::vector<std::vector<std::uint32_t>> parse_groups(io::Fields& fields, io::Problems& problems,
                                                     const layers::Workload& workload) {
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<bool> waits(workload.layers.size()); // with gradients, and in no group yet
  for (const layers::Gradient& gradient : workload.gradients) {
    waits[gradient.layer] = waits[gradient.layer] || gradient.bytes.value > 0;
  }
  const std::vector<bool> has_gradients = waits;
  for (const io::Json& list : fields.list("groups", "list of layers")) {
    std::vector<std::uint32_t> group;
    if (!list.is_array() || list.as_array().empty()) {
      problems.add(list, "must be a list of at least one layer, got " + io::shown(list));
      continue;
    }
    for (const io::Json& each : list.as_array()) {
      const std::optional<std::uint32_t> layer = layer_of(each, workload, problems);
      if (layer && !waits[*layer]) {
        problems.refuse(each, "layer {} ({}) {}", *layer, workload.layers[*layer].name,
                        has_gradients[*layer] ? "is in two groups" : "has no gradient");
      } else if (layer) {
        waits[*layer] = false;
        group.push_back(*layer);
      }
    }
    groups.push_back(std::move(group));
  }
  const auto left = std::ranges::find(waits, true);
  if (left != waits.end() && problems.empty()) { // else a wrong list may be why
    const auto layer = static_cast<std::size_t>(left - waits.begin());
    fields.refuse("groups", "layer {} ({}) is in no group{}", layer, workload.layers[layer].name,
                  std::ranges::count(waits, true) > 1 ? ", and others" : "");
  }
  return groups;
}

// All options are read and checked, also those of other schedules, so that a wrong value is found
// even where it would be ignored.
buckets::ScheduleOptions parse_schedule_options(io::Fields& fields, const ParseContext& context,
                                                const buckets::Planner& planner,
                                                std::int64_t bytes_of_element) {
  buckets::ScheduleOptions options = read_schedule_options(fields, planner, bytes_of_element);
  for (const io::Key& key : keys::kScheduleKeys) {
    const bool meaningful = key.name == "schedule" || planner.has(key.name);
    context.needs_meaning(fields, key.name, meaningful, "schedule " + std::string(planner.name));
  }
  if (!planner.has("contention")) { // what another schedule left behind
    options.contention = 1;
  }
  if (!planner.has("channel_shares")) {
    options.channel_shares = {};
  }
  if (planner.has("dear_layers") && options.dear_layers && context.leftovers == Leftovers::refuse &&
      fields.has(keys::kBucketBytes.name)) {
    fields.refuse(keys::kBucketBytes.name, "bucket_bytes has no meaning beside dear_layers");
  }
  return options;
}

// One schedule holds for all jobs, so that each of them needs buckets of its own.
bool has_measured_buckets(const Scenario& scenario) {
  return scenario.workload.buckets_cover_gradients() &&
         std::ranges::all_of(scenario.other_jobs, [](const OtherJob& job) {
           return job.workload.buckets_cover_gradients();
         });
}

// The buckets a framework has really used are the best guess of what it will use again.
buckets::Schedule default_schedule(const Scenario& scenario) {
  const Training& training = scenario.training;
  return training.algorithm != TrainingAlgorithm::sync_sgd && !has_islands(training)
             ? buckets::Schedule::single
         : has_measured_buckets(scenario) ? buckets::Schedule::trace
                                          : buckets::Schedule::ddp;
}

std::string schedule_name(const Communication& communication) {
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  const std::string& own = communication.schedule_options.schedule_name;
  return planner.has("schedule_name") && !own.empty() ? own : std::string(planner.name);
}

// What has no buckets takes the place of a schedule, "mode async"; empty with buckets.
std::string bucketless(const Training& training) {
  return has_buckets(training) ? ""
         : trains_in_rounds(training)
             ? std::string(kTrainingAlgorithms[training.algorithm]) + " with inner step"
         : has_units(training.sharding)
             ? "sharding " + std::string(kShardingStrategies[training.sharding.strategy])
             : "mode " + std::string(kServerModes[training.mode]);
}

// Asynchronous workers send everything at once: an axis may ask for another schedule there and gets
// this one.
void parse_schedule(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  const std::string_view by_default = buckets::planner(default_schedule(scenario)).name;
  if (const io::Json* given = fields.any("schedule"); given != nullptr && given->is_object()) {
    context.problems.add(*given, "must be a schedule, or an object with exactly one of caps and "
                                 "groups, and perhaps a name; got " +
                                     io::shown(*given));
    return;
  }
  std::string_view chosen = fields.word_or("schedule", by_default);
  const bool buckets = has_buckets(scenario.training);
  if (!buckets && context.leftovers == Leftovers::ignore) {
    chosen = by_default; // the only one there is
  }
  const buckets::Planner& planner = *buckets::find_planner(chosen);
  scenario.communication.schedule = planner.schedule;
  scenario.communication.schedule_options = parse_schedule_options(
      fields, context, planner,
      static_cast<std::int64_t>(std::ceil(scenario.workload.bytes_per_value())));
  if (planner.needs == buckets::Needs::layers) {
    scenario.communication.schedule_options.groups =
        parse_groups(fields, context.problems, scenario.workload);
  } else {
    (void)fields.any("groups"); // known, whatever the schedule is
  }
  for (const std::string_view key : planner.keys) {
    context.needs_meaning(fields, key, buckets, bucketless(scenario.training));
  }
}

// What a planner needs is in its row (buckets/planners.hpp); a linear cost can be told only once
// the whole exchange is known, so this comes last.
void check_schedule(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  const io::Json* found = io::resolve(tree, "/communication");
  const io::Json& where = found != nullptr ? *found : tree;
  const std::string schedule = "schedule " + std::string(planner.name);
  const auto refuse = [&](bool is_wrong, std::string_view why, std::string_view word = "") {
    if (is_wrong) {
      problems.add(where, "schedule", "{} {}{}", schedule, why, word);
    }
  };
  refuse(scenario.training.async() && planner.schedule != buckets::Schedule::single,
         "is not defined for mode ", kServerModes[scenario.training.mode]);
  refuse(planner.needs == buckets::Needs::buckets && !has_measured_buckets(scenario),
         "needs a trace whose measured buckets hold all gradients");
  refuse(planner.needs == buckets::Needs::layers && !scenario.other_jobs.empty(),
         "is not defined for several jobs");
  if (planner.needs == buckets::Needs::cost || planner.has_buckets()) {
    return;
  }
  const collectives::CompressionMethod method = communication.compression.method;
  const collectives::CompressionRow& compression = collectives::row(method);
  // The messages of a job are simulated; a topology has the start-up of a tangent, which overlaps
  // in the run of `priority` and is one of a message only where its time is a line.
  const bool of_topology = is_simulated(scenario) && !is_star(scenario);
  const bool takes_any =
      simulates_messages(scenario) ||
      (of_topology && (planner.schedule != buckets::Schedule::priority || is_line(scenario)));
  if (planner.needs == buckets::Needs::selection_costs) {
    refuse(compression.kind != collectives::CompressionKind::sparse, "needs a sparse compression");
  } else if (planner.needs_linear_cost()) {
    refuse(!(takes_any && is_summed(method)) &&
               (of_topology || !merge_problem(scenario).cost.is_linear()),
           "needs a linear cost (startup_s, per_byte_s)");
  } else {
    refuse(!is_summed(method), "needs an exchange that sums, got compression ", compression.name);
  }
  refuse(planner.schedule == buckets::Schedule::priority &&
             compression.kind !=
                 collectives::CompressionKind::dense, // chunks are cut after encoding
         "is not defined for compression ", compression.name);
  refuse(applies_late(scenario.training.algorithm), "is not defined for ",
         kTrainingAlgorithms[scenario.training.algorithm]);
  if (communication.reduce_broadcast) {
    problems.add(where, "exchange", "reduce_broadcast is not defined for " + schedule);
  }
  const buckets::ScheduleOptions& options = communication.schedule_options;
  if (planner.has("prefetch") && options.prefetch == buckets::Prefetch::one &&
      communication.next_forward == programs::NextForward::barrier) {
    problems.add(where, "prefetch", "one needs next_forward per_layer");
  }
  if (planner.schedule == buckets::Schedule::priority) {
    std::vector<Bytes> bytes;
    for (const layers::Gradient& gradient : scenario.workload.gradients) {
      bytes.push_back(gradient.bytes);
    }
    if (const auto message = buckets::too_many_chunks(bytes, options)) {
      problems.add(where, "partition_bytes", *message);
    }
  }
}

// The published 0.5 is kept where it was measured, in runs with measured exchanges.
void resolve_contention(const io::Json& tree, Scenario& scenario) {
  buckets::ScheduleOptions& options = scenario.communication.schedule_options;
  if (scenario.communication.schedule != buckets::Schedule::asc_wfbp ||
      scenario.cluster.network.curve) {
    return;
  }
  const io::Json* given = io::resolve(tree, "/communication/contention");
  if (given == nullptr || given->is_null()) {
    options.contention = 1;
  } else if (const double slowdown = buckets::least_slowdown(options); slowdown < 1) {
    scenario.warnings.push_back("contention " + base::significant(options.contention) +
                                " lets messages together move " + base::significant(1 / slowdown) +
                                " times the bandwidth of the network");
  }
}

// In the order of the rows. The one key that is written by hand has the groups; null where no layer
// has a gradient.
void add_schedule_options(const buckets::Planner& planner, const buckets::ScheduleOptions& options,
                          io::Json& tree) {
  for (const io::Bound<buckets::ScheduleOptions>& row : keys::kScheduleOptions) {
    const bool by_layers = row.key.name == keys::kBucketBytes.name && options.dear_layers;
    if (!planner.has(row.key.name) || by_layers) {
      continue;
    }
    io::set_given(tree, row.key.name,
                  row.written != nullptr   ? row.written(row.key, options)
                  : options.groups.empty() ? io::Json()
                                           : io::list_of(options.groups));
  }
}

} // namespace stepsim::study
