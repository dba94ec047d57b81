// Which values of a knob are tried, and in which scenario.
#include "study/tune_values.hpp"

#include "collectives/validate.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_schedule.hpp"
#include "study/crossings.hpp"
#include "study/sweep/assumed.hpp"
#include "study/tune.hpp"

namespace stepsim::study {

// The scenario, changed bit by bit, and what it says.
struct KnobSetup {
  explicit KnobSetup(Files& all) : files(all) {}

  Files& files;
  TuneValues out;
  Scenario scenario;

  void set(std::string_view pointer, io::Json value) {
    io::assign(out.scenario, pointer, std::move(value));
  }
  void parse() { scenario = parse_scenario(out.scenario, files, Leftovers::ignore); }

  // The schedule stays where it reads the knob.
  void use_schedule_with(std::string_view knob) {
    const buckets::Schedule chosen = scenario.communication.schedule;
    if (buckets::planner(chosen).has(knob)) {
      return;
    }
    const auto first = std::ranges::find_if(
        buckets::planners(), [&](const buckets::Planner& planner) { return planner.has(knob); });
    const std::string name(first->name);
    set("/communication/schedule", name);
    out.notes.push_back(fmt::format("schedule {} was taken, because schedule {} has no {}", name,
                                    buckets::planner(chosen).name, knob));
    parse();
  }
};

namespace {

// Up to this many divisions into buckets are all tried.
constexpr std::size_t kMostPlans = 24;
// Rounds around the best value of a scan.
constexpr int kScanned = 3;

// From low to high, `per_octave` values for a doubling, both ends.
// Values are rounded to few digits, so that they can be typed and compared; the ends stay as they
// are.
void add_geometric(std::vector<io::Json>& values, double low, double high, double per_octave,
                   bool whole) {
  std::set<double> all{low, std::max(low, high)};
  const double steps = std::floor(std::log2(std::max(1.0, high / low)) * per_octave);
  for (double i = 1; i <= steps; ++i) {
    double value = low * std::exp2(i / per_octave);
    value = whole ? std::round(base::rounded_to(value, 6)) : base::rounded_to(value, 3);
    if (value > low && value < high) {
      all.insert(value);
    }
  }
  for (const double value : all) {
    values.push_back(whole ? io::Json(static_cast<std::int64_t>(value)) : io::Json(value));
  }
}

// Keeps the list sorted, without a value twice.
void add_value(std::vector<io::Json>& values, const io::Json& value) {
  const auto place = std::ranges::lower_bound(values, value.as_double(), {}, &io::Json::as_double);
  if (place == values.end() || place->as_double() != value.as_double()) {
    values.insert(place, value);
  }
}

// At least 1 byte, so that ranges on a logarithmic scale exist.
double largest_gradient(const Scenario& scenario) {
  std::int64_t largest = 1;
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    largest = std::max(largest, gradient.bytes.value);
  }
  return static_cast<double>(largest);
}

double all_bytes(const Scenario& scenario) {
  return std::max(1.0, static_cast<double>(scenario.workload.bytes().value));
}

bool one_dtype(const buckets::Problem& problem) {
  return std::ranges::all_of(problem.items, [&](const buckets::Item& item) {
    return item.dtype == problem.items.front().dtype;
  });
}

// Two values for every doubling, and the default among them.
void scan_bytes(KnobSetup& setup, double low, double high, std::int64_t standard) {
  setup.out.refinements = kScanned;
  setup.out.unit = 1;
  setup.out.near_default = true;
  setup.out.default_value = standard;
  add_geometric(setup.out.values, std::min(low, high), high, 2, true);
  add_value(setup.out.values, setup.out.default_value);
}

// Whole MiB, as frameworks count them, from 1 to that which holds all gradients; of gradients below
// 16 MiB whole KiB. Every value is twice the one before.
void add_mebibytes(TuneValues& out, double bytes) {
  constexpr std::int64_t kKiB = 1024;
  out.unit = bytes < 16.0 * kKiB * kKiB ? kKiB : kKiB * kKiB;
  std::int64_t value = out.unit;
  for (; static_cast<double>(value) < bytes; value *= 2) {
    out.values.emplace_back(value);
  }
  out.values.emplace_back(value);
}

// dear_layers would win over bucket_bytes and is left out. Gradients of several types make horovod
// look past them, for which no list of changes is known: it is scanned.
void bucket_values(KnobSetup& setup, Knob knob) {
  const bool buckets = knob == Knob::bucket_bytes;
  setup.use_schedule_with(kKnobNames[knob]);
  if (buckets && setup.scenario.communication.schedule_options.dear_layers) {
    setup.set("/communication/dear_layers", nullptr);
    setup.out.notes.emplace_back("dear_layers is left out: it replaces bucket_bytes");
    setup.parse();
  }
  const Communication& communication = setup.scenario.communication;
  const buckets::ScheduleOptions standard;
  const std::int64_t usual = buckets ? standard.bucket_bytes.value : standard.fusion_bytes.value;
  const buckets::Problem problem = as_planned(setup.scenario, merge_problem(setup.scenario));
  if (!buckets && !one_dtype(problem)) { // gradients of another type are looked past
    scan_bytes(setup, 65'536, all_bytes(setup.scenario), usual);
    add_value(setup.out.values, std::int64_t{0});
    return;
  }
  setup.out.near_default = true;
  setup.out.default_value = usual;
  const std::vector<std::int64_t> changes =
      plan_changes(problem, communication.schedule, communication.schedule_options, kMostPlans);
  setup.out.exact = changes.size() <= kMostPlans;
  if (setup.out.exact) {
    setup.out.values.assign(changes.begin(), changes.end());
  } else {
    setup.out.refinements = 1;
    add_mebibytes(setup.out, all_bytes(setup.scenario));
  }
  add_value(setup.out.values, setup.out.default_value);
}

// From 10 us to the time at which the last gradient is ready: beyond that all of them travel in one
// message.
void cycle_values(KnobSetup& setup, Knob) {
  setup.use_schedule_with(kKnobNames[Knob::cycle_s]);
  const double last_ready = merge_problem(setup.scenario).items.back().ready.value;
  setup.out.default_value = buckets::ScheduleOptions{}.cycle.value;
  setup.out.refinements = kScanned;
  setup.out.near_default = true;
  add_geometric(setup.out.values, 1e-5, std::max(2e-3, last_ready), 4, false);
  add_value(setup.out.values, setup.out.default_value);
  add_value(setup.out.values, 0.0);
}

void priority_values(KnobSetup& setup, Knob knob) {
  setup.use_schedule_with(row(knob).name);
  setup.set(row(knob).pointer(), nullptr); // the preset's
  setup.parse();
  const buckets::ScheduleOptions& standard = setup.scenario.communication.schedule_options;
  if (knob == Knob::partition_bytes) {
    // Larger chunks than the largest gradient change nothing; small ones are limited in number.
    const double high = largest_gradient(setup.scenario);
    const double low = std::max(16'384.0, std::ceil(all_bytes(setup.scenario) / 50'000));
    scan_bytes(setup, low, high,
               standard.partition_bytes.value_or(Bytes{static_cast<std::int64_t>(high)}).value);
  } else {
    scan_bytes(setup, 65'536, all_bytes(setup.scenario), standard.credit_bytes.value);
    add_value(setup.out.values, std::int64_t{1}); // one chunk in flight
  }
}

// Collectives that are not sent in blocks have no such knob.
void block_values(KnobSetup& setup, Knob) {
  using collectives::AlgorithmId;
  const AlgorithmId algorithm = setup.scenario.communication.collective;
  if (algorithm != AlgorithmId::automatic && !collectives::has_level_algorithms(algorithm) &&
      collectives::algorithm(algorithm).block_streams == 0) {
    throw UsageError("--knob block_bytes: collective " + std::string(collectives::name(algorithm)) +
                     " is not sent in blocks; --set /communication/collective=" +
                     base::joined(collectives::block_algorithms(), " or "));
  }
  setup.out.refinements = kScanned;
  setup.out.unit = 1;
  setup.out.default_value = "optimal";
  add_geometric(setup.out.values, std::min(1024.0, all_bytes(setup.scenario)),
                all_bytes(setup.scenario), 2, true);
}

// Warm-up is left out: it would hide differences between widths in short runs.
void width_values(KnobSetup& setup, Knob knob) {
  if (setup.scenario.training.algorithm != TrainingAlgorithm::pipe_sgd) {
    setup.set("/training/algorithm", "pipe_sgd");
    setup.out.notes.emplace_back("training algorithm pipe_sgd: only it has a pipeline_width");
  }
  setup.set(row(knob).pointer(), "optimal");         // beside which max_width counts
  setup.set("/training/warmup_iterations", nullptr); // the steady period is asked for
  setup.parse();
  setup.out.exact = true;
  setup.out.default_value = 2;
  for (std::int64_t width = 1; width <= setup.scenario.training.max_width; ++width) {
    setup.out.values.emplace_back(width);
  }
}

// A density to start from is set before the scenario is parsed, which may lack one. Powers of two
// in entries, from one in ten thousand upwards.
void density_values(KnobSetup& setup, Knob knob) {
  const io::Json* given = io::resolve(setup.out.scenario, "/communication/compression");
  const collectives::CompressionRow& method = collectives::row(
      given != nullptr ? compression_method(*given) : collectives::CompressionMethod::none);
  if (method.kind != collectives::CompressionKind::sparse) {
    throw UsageError("--knob density: compression " + std::string(method.name) +
                     " selects no entries; --set /communication/compression/method=topk");
  }
  setup.set("/communication/compression/k", nullptr);
  setup.set(row(knob).pointer(), 0.001);
  setup.parse();
  const std::int64_t elements = setup.scenario.workload.values();
  if (elements < 1) {
    throw UsageError("--knob density: the workload has no gradients");
  }
  std::vector<io::Json> entries;
  add_geometric(entries, std::max(1.0, std::floor(static_cast<double>(elements) * 1e-4)),
                static_cast<double>(elements), 2, true);
  for (const io::Json& each : entries) {
    setup.out.values.emplace_back(density_of(each.as_integer(), elements));
  }
}

void collective_values(KnobSetup& setup, Knob) {
  // Conditions may put the links inside a machine into one rate for all.
  const std::vector<std::string_view> words = collectives_of(nominal_of(setup.scenario));
  setup.out.values.assign(words.begin(), words.end());
  setup.out.exact = true;
  setup.out.default_value =
      setup.scenario.communication.reduce_broadcast ? "mst" : usual_collective(setup.scenario);
}

// Whether the scenario takes the schedule; keys of other schedules are leftovers.
bool takes_schedule(const KnobSetup& setup, std::string_view name) {
  constexpr std::string_view kSchedule = "/communication/schedule";
  const io::Json changed = with_value(setup.out.scenario, kSchedule, name);
  return std::ranges::count(problems_of(changed, setup.files, Leftovers::refuse), kSchedule,
                            &base::Problem::where) == 0;
}

// Planners that need selection costs or measured buckets are tried where these exist.
void schedule_values(KnobSetup& setup, Knob) {
  const bool sparse = collectives::row(setup.scenario.communication.compression.method).kind ==
                      collectives::CompressionKind::sparse;
  for (const buckets::Planner& planner : buckets::planners()) {
    const bool fits =
        planner.schedule != buckets::Schedule::exhaustive && // optimal finds the same
        (planner.needs != buckets::Needs::selection_costs || sparse) &&
        (planner.needs != buckets::Needs::buckets || has_measured_buckets(setup.scenario)) &&
        !planner.has("schedule_name") && // only a user knows such messages
        takes_schedule(setup, planner.name);
    if (fits) {
      setup.out.values.emplace_back(planner.name);
    }
  }
  setup.out.exact = true;
  setup.out.default_value = buckets::planner(default_schedule(setup.scenario)).name;
}

constexpr std::array kKnobs{
    KnobRow{Knob::bucket_bytes, "/communication/", "size of a bucket", true, bucket_values},
    KnobRow{Knob::fusion_bytes, "/communication/", "fusion threshold; schedule horovod", true,
            bucket_values},
    KnobRow{Knob::cycle_s, "/communication/", "cycle time; schedule horovod", true, cycle_values},
    KnobRow{Knob::partition_bytes, "/communication/", "size of a chunk; schedule priority", true,
            priority_values},
    KnobRow{Knob::credit_bytes, "/communication/", "bytes in flight; schedule priority", true,
            priority_values},
    KnobRow{Knob::block_bytes, "/communication/", "block of a collective that is sent in blocks",
            false, block_values},
    KnobRow{Knob::pipeline_width, "/training/", "iterations in flight; training algorithm pipe_sgd",
            false, width_values},
    KnobRow{Knob::density, "/communication/compression/",
            "the largest share of entries that still beats dense; sparse compression", false,
            density_values},
    KnobRow{Knob::collective, "/communication/", "algorithm of the all-reduce", false,
            collective_values},
    KnobRow{Knob::schedule, "/communication/", "how gradients are merged", true, schedule_values},
};
// `row` finds a knob by its place.
static_assert(std::ranges::is_sorted(kKnobs, {}, &KnobRow::knob) &&
              kKnobs.size() == static_cast<std::size_t>(Knob::schedule) + 1);

// Units of sharded parameters take the place of buckets, and servers and measured times that of a
// collective.
void refuse_without_meaning(const Scenario& scenario, Knob knob) {
  const bool each = knob == Knob::collective && scenario.cluster.network.steps; // has its own times
  if ((knob == Knob::collective || knob == Knob::block_bytes) && has_curve(scenario) && !each &&
      !scenario.communication.library) {
    throw UsageError("--knob " + std::string(row(knob).name) +
                     ": has no meaning for exchanges whose times are given");
  }
  const Sharding& sharding = scenario.training.sharding;
  for (const KeyRule& rule : key_rules()) {
    if (knob == Knob::collective && rule.pointer == row(knob).pointer() &&
        !rule.meaningful(scenario)) {
      throw UsageError("--knob collective: has no meaning for " + rule.where(scenario));
    }
  }
  if (row(knob).merges && has_units(sharding)) {
    throw UsageError("--knob " + std::string(row(knob).name) + ": has no meaning for sharding " +
                     std::string(kShardingStrategies[sharding.strategy]) +
                     ", whose units of layers are no buckets");
  }
  if (row(knob).merges && trains_in_rounds(scenario.training) && !has_islands(scenario.training)) {
    throw UsageError("--knob " + std::string(row(knob).name) + ": has no meaning for " +
                     std::string(kTrainingAlgorithms[scenario.training.algorithm]) +
                     " with inner step, whose steps exchange nothing");
  }
}

} // namespace

std::span<const KnobRow> knobs() { return kKnobs; }

const KnobRow& row(Knob knob) { return kKnobs[static_cast<std::size_t>(knob)]; }

Knob parse_knob(std::string_view name) {
  return base::row_named(kKnobs, &KnobRow::name, name, "--knob: ", "knob").knob;
}

// The scenario may lack a density, which is what that knob looks for; it is then parsed after one
// is set.
TuneValues tune_values(const TuneProblem& problem, Files& files) {
  KnobSetup setup(files);
  setup.out.scenario = with_short_forms_expanded(problem.scenario);
  if (problem.knob != Knob::density) { // which may be what the file lacks
    setup.parse();
  }
  refuse_without_meaning(setup.scenario, problem.knob);
  row(problem.knob).values(setup, problem.knob);
  return std::move(setup.out);
}

} // namespace stepsim::study
