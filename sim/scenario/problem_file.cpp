// The file holds what buckets::Problem holds, in backward order; everything else that a planner
// could need (forward times, measured buckets) makes it unfit for such a file.
// Gradients become ready as backward passes their layers, from the last to the first. A gradient
// waits for the whole backward pass where communication may not overlap with it.
#include "scenario/program_file.hpp"

#include "programs/step/exchange_times.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/keys/problem_keys.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_parts.hpp"
#include "scenario/scenario_schedule.hpp"

namespace stepsim::study {

namespace {

// Finite is checked where the file is parsed; a text or a list is no number.
std::optional<double> finite_at_least_0(const io::Json& value, io::Problems& problems) {
  if (const auto number = io::number_of(value); number && *number >= 0) {
    return number;
  }
  problems.add(value, "must be a finite number >= 0, got " + io::shown(value));
  return std::nullopt;
}

std::optional<Bytes> whole_bytes(const io::Json& value, io::Problems& problems) {
  const std::optional<double> number = finite_at_least_0(value, problems);
  const bool is_whole = number && *number == std::floor(*number);
  if (is_whole && *number <= static_cast<double>(base::kMaxExactBytes)) {
    return Bytes{static_cast<std::int64_t>(*number)};
  }
  if (number) {
    problems.refuse(value, "must be {} bytes, got {}", is_whole ? "<= 2^53" : "a whole number of",
                    io::shown(value));
  }
  return std::nullopt;
}

// Both lists are read to the end even where they differ in length, so that all problems are listed
// at once. Sizes must add up to less than 2^53, up to which a double counts bytes exactly.
void parse_items(io::Fields& fields, io::Problems& problems, buckets::Problem& problem) {
  const std::span<const io::Json> ready = fields.array("ready_s", true);
  const std::span<const io::Json> bytes = fields.array("bytes", true);
  if (fields.has("ready_s") && ready.empty()) {
    fields.refuse("ready_s", "needs at least one gradient");
  } else if (fields.has("ready_s") && fields.has("bytes") && ready.size() != bytes.size()) {
    fields.refuse("bytes", "{} entries, but /ready_s has {}", bytes.size(), ready.size());
  }
  problem.items.resize(ready.size());
  std::optional<double> before;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::optional<double> time = finite_at_least_0(ready[i], problems);
    if (time && before && *time < *before) {
      problems.refuse(ready[i], "{} is before /ready_s/{} ({}); list gradients in backward order",
                      base::shortest(*time), i - 1, base::shortest(*before));
    }
    before = time ? time : before;
    problem.items[i].ready = {time.value_or(0)};
  }
  double total = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Bytes size = whole_bytes(bytes[i], problems).value_or(Bytes{0});
    total += static_cast<double>(size.value);
    if (i < problem.items.size()) {
      problem.items[i].bytes = size;
    }
  }
  fields.refuse_if(total > static_cast<double>(base::kMaxExactBytes), "bytes",
                   "must sum to 2^53 bytes at most");
}

// A file of kind cost, or the cost itself; copies into and out of messages come on top.
void parse_cost(io::Fields& fields, io::Problems& problems, Files& files, ProblemFile& out) {
  const io::Json* cost = fields.any("cost");
  if (cost == nullptr || cost->is_null()) {
    fields.refuse("cost", "required");
  } else if (cost->is_string()) {
    const CostFile& file = files.cost(*cost);
    ChosenCost chosen = all_reduce_cost(file, std::nullopt, *cost, problems);
    out.problem.cost.base = std::move(chosen.cost.base);
    out.cost_warning = std::move(chosen.warning);
    out.table = file.report;
  } else {
    out.problem.cost = inline_cost(*cost, problems, &out.table);
  }
  out.problem.cost.copy_bandwidth_Bps = fields.optional_number("copy_bandwidth_Bps").value_or(0);
}

// Options of planners by their names. A key that the planner does not have is always an error here.
void parse_planners(io::Fields& fields, io::Problems& problems, Files& files, ProblemFile& out) {
  for (const auto& [name, options] : fields.members("planners")) {
    const buckets::Planner* planner = buckets::find_planner(name);
    if (planner == nullptr || !planner->fits_problem_files()) {
      problems.add(options,
                   planner == nullptr ? unknown_schedule(name) : not_for_problem_files(*planner));
      continue;
    }
    io::Fields own(options, problems, keys::kPlannerOptions.front());
    const ParseContext context{problems, files, Leftovers::refuse};
    out.options.emplace_back(planner->schedule, parse_schedule_options(own, context, *planner));
    own.no_more();
  }
}

// Every message takes startup + bytes per_byte longer.
// Linear costs stay linear, because some planners need that; others are wrapped. An empty message
// costs nothing and gets nothing.
buckets::Cost with_extra(buckets::Cost cost, const buckets::LinearCost& extra) {
  if (auto* linear = std::get_if<buckets::LinearCost>(&cost.base)) {
    linear->startup_s += extra.startup_s;
    linear->per_byte_s += extra.per_byte_s;
    return cost;
  }
  const auto least = [cost, extra](double low, double high) {
    const auto* curve = std::get_if<buckets::CurveCost>(&cost.base);
    const buckets::LinearCost line =
        curve != nullptr && curve->least ? curve->least(low, high) : buckets::LinearCost{};
    return buckets::LinearCost{line.startup_s + extra.startup_s,
                               line.per_byte_s + extra.per_byte_s};
  };
  return {.base = buckets::CurveCost{.seconds =
                                         [cost, extra](double bytes) {
                                           const double more =
                                               extra.startup_s + extra.per_byte_s * bytes;
                                           return bytes > 0 ? cost.seconds(bytes, 1) + more : 0.0;
                                         },
                                     .least = least}};
}

// A dense message: a measured curve; where start-up and data must be separable or `by_formula`, the
// closed form (of the schedule, where the run evaluates that); else as the run evaluates it.
buckets::Cost dense_cost(const Scenario& scenario, bool by_formula) {
  if (!exchanges(scenario)) {
    return {.base = buckets::LinearCost{}};
  }
  const Network& network = scenario.cluster.network;
  if (const auto& curve = network.planned_curve ? network.planned_curve : network.curve) {
    const bool bends = scenario.communication.question &&
                       buckets::planner(scenario.communication.schedule).needs_linear_cost();
    return bends ? buckets::Cost{.base = tangent(*curve, mean_message(scenario))} : *curve;
  }
  collectives::Collective exchange = exchange_of(scenario);
  if (by_formula) {
    return programs::planner_cost(std::move(exchange));
  }
  const bool separable = buckets::planner(scenario.communication.schedule).needs_linear_cost();
  if (!separable) {
    return programs::merge_cost(std::move(exchange), scenario.method);
  }
  if (is_star(scenario)) {
    return dense_cost(on_alpha_beta(scenario), by_formula);
  }
  if (scenario.method &&
      *scenario.method != collectives::Method::closed_form) { // not the printed form
    exchange.options.cost_form = collectives::CostForm::exact;
    exchange.options.ring_startup_2p = false;
  }
  const bool bends =
      exchange.links.fabric && buckets::planner(scenario.communication.schedule).reads_cost;
  const buckets::Cost cost = programs::planner_cost(std::move(exchange));
  return bends ? buckets::Cost{.base = tangent(cost, mean_message(scenario))} : cost;
}

// What the planner sees of one message.
buckets::Cost channel_cost(const Scenario& scenario, bool by_formula) {
  if (is_compressed(scenario)) {
    return compressed_cost(scenario);
  }
  buckets::Cost cost = dense_cost(scenario, by_formula);
  const buckets::LinearCost extra = extra_cost(scenario);
  if (extra.startup_s > 0 || extra.per_byte_s > 0) {
    cost = with_extra(std::move(cost), extra);
  }
  const bool merges = scenario.communication.schedule != buckets::Schedule::priority; // cuts chunks
  if (merges && exchanges(scenario)) {
    cost.copy_bandwidth_Bps = scenario.communication.copy_bandwidth_Bps;
  }
  return cost;
}

} // namespace

// Defaults for a planner that the file does not mention.
buckets::ScheduleOptions ProblemFile::options_of(buckets::Schedule schedule) const {
  const auto* given =
      base::found_if(options, [&](const auto& each) { return each.first == schedule; });
  return given != nullptr ? given->second : buckets::default_options(buckets::planner(schedule));
}

std::string not_for_problem_files(const buckets::Planner& planner) {
  return fmt::format("schedule {}{}: use it in a scenario (stepsim run)", planner.name,
                     planner.needs_forward() ? " needs layers with forward times"
                                             : " needs the measured buckets of a trace");
}

std::string unknown_schedule(std::string_view name) {
  return base::unknown_word("schedule", name, keys::problem_schedules());
}

ProblemFile parse_problem(const io::Json& tree, Files& files) {
  io::FileFields fields(tree, keys::kProblem);
  ProblemFile out;
  parse_items(fields, fields.problems(), out.problem);
  parse_cost(fields, fields.problems(), files, out);
  out.problem.channel_free = {fields.number("channel_free_s")};
  out.forward_s = fields.optional_number("forward_s");
  parse_planners(fields, fields.problems(), files, out);
  fields.finish();
  return out;
}

// Element types become numbers in the order of first use: planners only ask whether two are equal.
std::vector<buckets::Item> merge_items(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  std::vector<buckets::Item> items;
  std::vector<std::int64_t> group_of(workload.layers.size(), -1); // with schedule groups
  const bool in_groups = scenario.communication.schedule == buckets::Schedule::groups;
  const auto& groups = scenario.communication.schedule_options.groups;
  for (std::size_t g = 0; in_groups && g < groups.size(); ++g) {
    for (const std::uint32_t layer : groups[g]) {
      group_of[layer] = static_cast<std::int64_t>(g);
    }
  }
  const std::vector<Seconds> ends = workload.backward_ends();
  std::map<std::string, std::uint32_t> dtypes;
  auto dtype = dtypes.end(); // of the gradient before
  std::int64_t position = 0;
  const auto count = static_cast<std::int64_t>(workload.gradients.size());
  items.reserve(workload.gradients.size());
  for (const layers::Gradient& gradient : workload.gradients) {
    if (dtype == dtypes.end() || dtype->first != gradient.dtype) {
      dtype = dtypes.try_emplace(gradient.dtype, static_cast<std::uint32_t>(dtypes.size())).first;
    }
    items.push_back(
        {.ready = ends[scenario.communication.overlap_backward ? gradient.layer : 0],
         .bytes = gradient.bytes,
         .elements = gradient.elements,
         .dtype = dtype->second,
         .layer = gradient.layer,
         .ready_order = gradient.measured_order ? position : count - 1 - gradient.registration,
         .registration = gradient.registration,
         .bucket = in_groups ? group_of[gradient.layer] : gradient.bucket});
    ++position;
  }
  if (items.empty()) { // no layer has a gradient: one that sends nothing
    items.push_back({.ready = ends.front(), .bytes = Bytes{0}});
  }
  return items;
}

buckets::Cost merge_cost(const Scenario& scenario) { return channel_cost(scenario, false); }

buckets::Problem merge_problem(const Scenario& scenario) {
  return {.items = merge_items(scenario), .cost = merge_cost(scenario)};
}

buckets::Problem as_planned(const Scenario& scenario, buckets::Problem problem) {
  if (const auto& cost = scenario.communication.plan_cost) {
    problem.cost = {.base = *cost};
  }
  return problem;
}

Scenario on_alpha_beta(const Scenario& scenario) {
  Scenario result = scenario;
  result.cluster.network.model = NetworkModel::alpha_beta;
  result.cluster.fabric.reset();
  return result;
}

// Whole femtoseconds, so that the rounding of a tangent does not decide which of two messages that
// may start at the same time is the first.
buckets::Cost startup_cost(const Scenario& scenario, const buckets::Cost& cost) {
  if (!is_simulated(scenario)) {
    return cost;
  }
  buckets::Cost result = is_star(scenario)
                             ? merge_cost(on_alpha_beta(scenario))
                             : buckets::Cost{.base = tangent(cost, mean_message(scenario))};
  if (auto* line = std::get_if<buckets::LinearCost>(&result.base)) {
    line->startup_s = std::round(line->startup_s * 1e15) / 1e15;
  }
  return result;
}

} // namespace stepsim::study
