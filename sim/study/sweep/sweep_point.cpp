// Points that differ in nodes, latency and bandwidth only share a context: they take the short way
// if QuickRun knows their scenario, else share its workload if SharedRun allows it. All others take
// the long way: scenario, run, summary. The last two give the same bits, the first the same numbers
// but for rounding; errors always come from the long way.
#include "study/sweep/sweep_point.hpp"

#include "document/json_text.hpp"
#include "run/collective_record.hpp"
#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

// Without the name of the scenario's own file: that differs between machines.
std::string error_text(const InputError& error, std::string_view scenario_file) {
  std::string text;
  for (base::Problem problem : error.problems()) {
    if (problem.file == scenario_file) {
      problem.file.clear();
    }
    const std::string one =
        problem.file.empty() ? problem.where + ": " + problem.message : problem.text();
    text += (text.empty() ? "" : "; ") + (one.starts_with(": ") ? one.substr(2) : one);
  }
  return text;
}

// The value of a quick field (0 nodes, 1 latency, 2 bandwidth); not a number where it may be
// refused.
double quick_number(const io::Json& value, std::size_t field) {
  constexpr double kMaxNodes = 1 << 20;
  const double number = value.is_number() ? value.as_double() : NAN;
  const bool fits = field == 0 ? number >= 1 && number <= kMaxNodes && number == std::floor(number)
                    : field == 1 ? number >= 0
                                 : number > 0;
  static constexpr std::array<std::string_view, 3> kKeys{io::key_of<&Cluster::nodes>(),
                                                         io::key_of<&Network::latency_s>(),
                                                         io::key_of<&Network::bandwidth_Bps>()};
  return fits && !unusual(kKeys[field], number) ? number : NAN;
}

// A record is one line, whatever a message holds.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text.empty() ? "failed" : text;
}

constexpr std::int64_t kMostContexts = 256;
constexpr std::int64_t kTypicalContext = 16; // takes the memory of so many others

} // namespace

// What points share that differ in the quick fields only.
struct PointRunner::Context {
  std::unique_ptr<QuickRun> quick;
  std::unique_ptr<SharedRun> shared; // for points that QuickRun does not take; neither: long way
};

PointRunner::PointRunner(const Sweep& sweep, Files& files, double max_seconds)
    : sweep_(sweep), files_(files), max_seconds_(max_seconds),
      library_keys_(sweep.has_library_keys()), strides_(sweep.grid.strides()) {
  static constexpr std::array<std::string_view, 3> kQuick{"/cluster/nodes",
                                                          kNetworkPointer<&Network::latency_s>,
                                                          kNetworkPointer<&Network::bandwidth_Bps>};
  bool any = false;
  std::vector<QuickField> fields(kQuick.size());
  for (std::size_t f = 0; f < kQuick.size(); ++f) {
    const std::vector<Axis>& axes = sweep.grid.axes;
    const auto found = sweep.grid.axis_of(kQuick[f]);
    fields[f].axis = found.value_or(axes.size());
    any = any || found;
    for (const io::Json& value : found ? axes[*found].values : std::vector<io::Json>()) {
      fields[f].values.push_back(quick_number(value, f));
    }
    if (std::ranges::any_of(
            axes, [&](const Axis& axis) { return kQuick[f].starts_with(axis.pointer + "/"); })) {
      return; // an axis that sets the field's object: only the order of axes tells who wins
    }
  }
  if (any && shares_enough(fields)) {
    quick_fields_ = std::move(fields);
  }
}

// A context costs as much as a run, so that several points must share it before it is forgotten.
// The grid alone decides, so that a point goes the same way in every shard and thread.
bool PointRunner::shares_enough(const std::vector<QuickField>& fields) const {
  constexpr std::int64_t kEnough = 2;
  std::int64_t sharing = 1;  // points of one context
  std::int64_t in_a_row = 1; // of these, that follow each other
  std::int64_t contexts = 1;
  bool fastest = true; // all axes so far
  for (std::size_t a = sweep_.grid.axes.size(); a-- > 0;) {
    const auto size = static_cast<std::int64_t>(sweep_.grid.axes[a].values.size());
    const bool is_quick = std::ranges::find(fields, a, &QuickField::axis) != fields.end();
    fastest = fastest && is_quick;
    in_a_row *= fastest ? size : 1;
    (is_quick ? sharing : contexts) *= size;
  }
  return in_a_row >= kEnough || (sharing >= kEnough && contexts <= kMostContexts);
}

PointRunner::~PointRunner() = default;

// Keys that have no meaning at this point are ignored: an axis may vary a key that only some of the
// algorithms of another axis read.
void PointRunner::run_long(std::int64_t point) {
  try {
    const io::Json tree = scenario_at(sweep_.base, sweep_.grid, point);
    if (is_collective(tree)) {
      outcome_.collective =
          evaluate_collective(parse_collective(tree, files_, Leftovers::ignore),
                              {.max_seconds = max_seconds_, .library_keys = library_keys_});
      outcome_.method = outcome_.collective.find("method")->as_string();
      for (const io::Json& warning : outcome_.collective.find("warnings")->as_array()) {
        ++warnings_[warning.as_string()];
      }
      return;
    }
    const Scenario scenario = replicated(parse_scenario(tree, files_, Leftovers::ignore),
                                         point % sweep_.grid.replications);
    refuse_long_work(estimated_seconds(scenario), max_seconds_);
    take(study::run(scenario, Detail::summary));
  } catch (const InputError& error) {
    outcome_.error = one_line(error_text(error, sweep_.base.file()));
  } catch (const SimulationError& error) {
    outcome_.error = one_line(error.what());
  } catch (const UsageError& error) {
    outcome_.error = one_line(error.what());
  }
}

void PointRunner::take(Result&& result) {
  outcome_.summary = std::move(result.summary);
  outcome_.method = std::move(result.method);
  count(result.warnings);
}

void PointRunner::count(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    ++warnings_[warning];
  }
}

double PointRunner::quick_value(std::size_t field, std::int64_t point, double otherwise) const {
  const QuickField& quick = quick_fields_[field];
  if (quick.axis == sweep_.grid.axes.size()) {
    return otherwise;
  }
  return quick
      .values[static_cast<std::size_t>(point / strides_[quick.axis + 1]) % quick.values.size()];
}

// The context of a point, built if need be; null where it takes the long way.
PointRunner::Context* PointRunner::context_of(std::int64_t point) {
  if (quick_fields_.empty() || quick_value(0, point, 2) < 2) { // one node may tell too little
    return nullptr;
  }
  for (std::size_t f = 0; f < quick_fields_.size(); ++f) {
    if (std::isnan(quick_value(f, point, 0))) {
      return nullptr;
    }
  }
  // The key of a context is a number of mixed radix, as that of a point.
  // Every axis but the quick ones in its place.
  std::int64_t key = 0;
  for (std::size_t a = 0; a < sweep_.grid.axes.size(); ++a) {
    const bool is_quick = std::ranges::any_of(
        quick_fields_, [a](const QuickField& field) { return field.axis == a; });
    if (!is_quick) {
      const auto size = static_cast<std::int64_t>(sweep_.grid.axes[a].values.size());
      key = key * size + point / strides_[a + 1] % size;
    }
  }
  if (const auto found = contexts_.find(key); found != contexts_.end()) {
    return &found->second;
  }
  if (held_ >= kMostContexts) {
    contexts_.clear();
    held_ = 0;
  }
  Context& context = contexts_[key];
  ++held_;
  try {
    io::Json tree = scenario_at(sweep_.base, sweep_.grid, point);
    const io::Json* block = io::resolve(tree, "/cluster/network/block_latency_s");
    const bool block_given = block != nullptr && !block->is_null();
    const Scenario scenario = parse_scenario(tree, files_, Leftovers::ignore);
    const Network& network = scenario.cluster.network; // a calibration may give both
    const bool block_follows = !block_given && network.block_latency_s == network.latency_s;
    held_ += is_typical(scenario) ? kTypicalContext - 1 : 0;
    tree = {}; // many layers take more memory here than in the scenario
    context.quick = QuickRun::make(scenario, block_follows);
    if (!context.quick || !context.quick->takes_all()) {
      context.shared = SharedRun::make(scenario, block_follows, max_seconds_);
    }
  } catch (const InputError&) { // the long way tells what is wrong
  } catch (const UsageError&) {}
  return &context;
}

QuickPoint PointRunner::quick_point(const Cluster& cluster, std::int64_t point) const {
  const auto nodes = static_cast<double>(cluster.nodes);
  return {static_cast<std::int64_t>(quick_value(0, point, nodes)),
          quick_value(1, point, cluster.network.latency_s),
          quick_value(2, point, cluster.network.bandwidth_Bps)};
}

bool PointRunner::run_quick(QuickRun& quick, std::int64_t point) {
  if (!quick.run(quick_point(quick.scenario().cluster, point), outcome_.summary)) {
    return false;
  }
  outcome_.method = collectives::name(quick.method());
  count(quick.warnings());
  if (outcome_.summary.closed_form_is_bound.value_or(false)) {
    ++warnings_[std::string(collectives::kUpperBound)];
  }
  ++quick_points_;
  return true;
}

bool PointRunner::run_shared(SharedRun& shared, std::int64_t point) {
  std::optional<Result> result =
      shared.run(quick_point(shared.cluster(), point), point % sweep_.grid.replications);
  if (result) {
    take(std::move(*result));
    ++shared_points_;
  }
  return result.has_value();
}

const PointOutcome& PointRunner::run(std::int64_t point) {
  outcome_.error.clear();
  const Context* context = context_of(point);
  const bool is_short =
      context != nullptr && ((context->quick && run_quick(*context->quick, point)) ||
                             (context->shared && run_shared(*context->shared, point)));
  if (!is_short) {
    run_long(point);
  }
  return outcome_;
}

void check_point(const io::Json& tree, Files& files) {
  if (is_collective(tree)) {
    (void)parse_collective(tree, files, Leftovers::ignore);
  } else {
    (void)parse_scenario(tree, files, Leftovers::ignore);
  }
}

// A few points spread over the grid, first and last among them: a scenario that is wrong everywhere
// is told at once instead of failing a million times.
void check_some_point(const Sweep& sweep, Files& files) {
  constexpr std::int64_t kSamples = 16;
  const std::int64_t points = sweep.grid.points();
  const std::int64_t samples = std::min(points, kSamples);
  std::optional<InputError> first;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t point = i + 1 == samples ? points - 1 : points / samples * i;
    try {
      check_point(scenario_at(sweep.base, sweep.grid, point), files);
      return;
    } catch (const InputError& error) {
      if (!first) {
        first = error;
      }
    }
  }
  if (first) {
    throw InputError(*first);
  }
}

std::unique_ptr<SharedRun> SharedRun::make(const Scenario& first, bool latency_is_block_latency,
                                           double max_seconds) {
  if (first.cluster.nodes < 2 || !shares_scenario(first)) {
    return nullptr;
  }
  return std::make_unique<SharedRun>(SharedRun(first, latency_is_block_latency, max_seconds));
}

SharedRun::SharedRun(const Scenario& scenario, bool block_follows, double max_seconds)
    : scenario_(scenario), block_follows_(block_follows), max_seconds_(max_seconds),
      messages_(different_messages(scenario)), seed_(scenario.seed) {
  for (const layers::Straggler& straggler : scenario.variability.stragglers) {
    least_ranks_ = std::max(least_ranks_, std::int64_t{straggler.worker} + 1);
  }
}

// Keys that a single node does not read are read with several.
bool SharedRun::set_point(const QuickPoint& point, std::int64_t replication) {
  Cluster& cluster = scenario_.nominal ? scenario_.nominal->cluster : scenario_.cluster;
  const Network& network = cluster.network;
  if (const auto& profile = network.profile; scenario_.nominal && profile) {
    // A measured link is one no longer where a key replaces its value.
    const bool is_measured =
        profile->label != links::ProfileLabel::default_value || profile->fitted_rate;
    if (point.latency_s != network.latency_s ||
        (is_measured && point.bandwidth_Bps != network.bandwidth_Bps)) {
      return false;
    }
  }
  if (point.nodes < 2 || point.nodes * cluster.gpus_per_node < least_ranks_ ||
      !set_network(point, block_follows_, cluster)) {
    return false;
  }
  scenario_.variability.seed = replication_seed(static_cast<std::uint64_t>(seed_), replication);
  renew_conditions(scenario_);
  return true;
}

std::optional<Result> SharedRun::run(const QuickPoint& point, std::int64_t replication) {
  if (!set_point(point, replication)) {
    return std::nullopt;
  }
  try {
    const bool linear = buckets::planner(scenario_.communication.schedule).needs_linear_cost();
    if (linear && !merge_cost(scenario_).is_linear()) {
      return std::nullopt;
    }
    if (estimated_nodes_ != point.nodes) { // neither latency nor bandwidth makes more work
      refuse_long_work(estimated_seconds(scenario_, messages_), max_seconds_);
      estimated_nodes_ = point.nodes;
    }
    return study::run(scenario_, Detail::summary, &memory_);
  } catch (const SimulationError&) { // the long way tells what is wrong
  } catch (const UsageError&) {}
  return std::nullopt;
}

} // namespace stepsim::study
