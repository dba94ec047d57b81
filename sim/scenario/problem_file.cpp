// The file holds what buckets::Problem holds, in backward order; everything else that a planner
// could need (forward times, measured buckets) makes it unfit for such a file.
#include "scenario/problem_file.hpp"

#include "scenario/files.hpp"
#include "scenario/keys/problem_keys.hpp"
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
  if (!number) {
    return std::nullopt;
  }
  if (*number != std::floor(*number)) {
    problems.add(value, "must be a whole number of bytes, got " + io::shown(value));
    return std::nullopt;
  }
  if (*number > static_cast<double>(base::kMaxExactBytes)) {
    problems.add(value, "must be <= 2^53 bytes, got " + io::shown(value));
    return std::nullopt;
  }
  return Bytes{static_cast<std::int64_t>(*number)};
}

// Both lists are read to the end even where they differ in length, so that all problems are listed
// at once. Sizes must add up to less than 2^53, up to which a double counts bytes exactly.
void parse_items(io::Fields& fields, io::Problems& problems, buckets::Problem& problem) {
  const std::span<const io::Json> ready = fields.array("ready_s", true);
  const std::span<const io::Json> bytes = fields.array("bytes", true);
  if (fields.has("ready_s") && ready.empty()) {
    fields.refuse("ready_s", "needs at least one gradient");
  } else if (fields.has("ready_s") && fields.has("bytes") && ready.size() != bytes.size()) {
    fields.refuse("bytes", std::to_string(bytes.size()) + " entries, but /ready_s has " +
                               std::to_string(ready.size()));
  }
  problem.items.resize(ready.size());
  std::optional<double> before;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::optional<double> time = finite_at_least_0(ready[i], problems);
    if (time && before && *time < *before) {
      problems.add(ready[i], base::shortest(*time) + " is before /ready_s/" +
                                 std::to_string(i - 1) + " (" + base::shortest(*before) +
                                 "); list gradients in backward order");
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
  if (total > static_cast<double>(base::kMaxExactBytes)) {
    fields.refuse("bytes", "must sum to 2^53 bytes at most");
  }
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
  const io::Json* all = fields.any("planners");
  if (all == nullptr || all->is_null()) {
    return;
  }
  if (!all->is_object()) {
    problems.add(*all, "must be an object, got " + io::shown(*all));
    return;
  }
  for (const auto& [name, options] : all->as_object()) {
    const buckets::Planner* planner = buckets::find_planner(name);
    if (planner == nullptr) {
      problems.add(options, unknown_schedule(name));
      continue;
    }
    if (!planner->fits_problem_files()) {
      problems.add(options, not_for_problem_files(*planner));
      continue;
    }
    io::Fields own(options, problems, keys::kPlannerOptions.front());
    const ParseContext context{problems, files, Leftovers::refuse};
    out.options.emplace_back(planner->schedule, parse_schedule_options(own, context, *planner));
    own.no_more();
  }
}

} // namespace

// Defaults for a planner that the file does not mention.
buckets::ScheduleOptions ProblemFile::options_of(buckets::Schedule schedule) const {
  for (const auto& [each, given] : options) {
    if (each == schedule) {
      return given;
    }
  }
  return buckets::default_options(buckets::planner(schedule));
}

std::string not_for_problem_files(const buckets::Planner& planner) {
  return "schedule " + std::string(planner.name) +
         (planner.needs_forward() ? " needs layers with forward times"
                                  : " needs the measured buckets of a trace") +
         ": use it in a scenario (stepsim run)";
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

} // namespace stepsim::study
