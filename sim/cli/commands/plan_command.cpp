// stepsim plan PROBLEM: all planners on one merge problem (MER 5).
// Planners see a merge problem alone (buckets/problem.hpp), so no network, collective or cluster is
// needed here. The lower bound does not depend on the planner and stands once.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/help/help_text.hpp"
#include "cli/shell/flag_values.hpp"
#include "document/csv.hpp"
#include "run/summary_fields.hpp"
#include "scenario/program_file.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kPlanText{
    "plan",
    "PROBLEM",
    "Runs planners on one merge problem: which gradients travel in one message, and when the last\n"
    "one arrives, counted from the start of backward.",
    "stepsim plan problem.json\n"
    "stepsim plan problem.json --planners wfbp,mg_wfbp,optimal --json",
    "The problem file is described in docs/file-formats.md and schemas/problem.schema.json.",
    kJsonOrTable,
};

// As typed; the default list stands here, so that help can show it.
struct PlanOptions {
  std::string file;
  std::string planners = "wfbp,single,ddp,horovod,mg_wfbp,optimal,eager";
};

// A planner with its plan; the iteration time exists where the file gives forward_s.
struct Planned {
  const buckets::Planner* planner{};
  buckets::Plan plan;
  std::optional<double> iteration_s;
};

// In the order typed, each once. Planners that need more than the items and the cost (layers of a
// forward pass, selection costs) are refused with the reason.
std::vector<const buckets::Planner*> parse_planners(std::string_view list) {
  std::vector<const buckets::Planner*> chosen;
  for (const std::string_view word : io::split(list)) {
    const buckets::Planner* planner = buckets::find_planner(word);
    if (planner == nullptr) {
      throw UsageError("--planners: " + study::unknown_schedule(word));
    }
    if (!planner->fits_problem_files()) {
      throw UsageError("--planners: " + study::not_for_problem_files(*planner));
    }
    if (std::ranges::find(chosen, planner) == chosen.end()) {
      chosen.push_back(planner);
    }
  }
  return chosen;
}

// Groups as lists [first, last], numbered from 1 in backward order. All groups are contiguous here,
// because buckets per element type need types, which problem files do not have.
io::Json groups_tree(const buckets::Plan& plan) {
  return base::collected<io::Json>(plan.groups, [](const buckets::Group& group) {
    return io::Array{static_cast<std::int64_t>(group.first()) + 1,
                     static_cast<std::int64_t>(group.last()) + 1};
  });
}

// The plans by planner, and what belongs to the problem alone: the lower bound and whether the
// greedy plan of mg_wfbp is certainly optimal. asc_wfbp may send several messages at once and can
// beat the bound for one: it has a bound of its own.
io::Json plan_tree(const study::ProblemFile& file, const std::vector<Planned>& plans) {
  const buckets::Plan greedy = buckets::make_plan(file.problem, buckets::Schedule::mg_wfbp);
  io::Json planners{io::Object{}};
  for (const Planned& each : plans) {
    io::Json entry(
        io::Object{{"finish_s", each.plan.finish.value}, {"groups", groups_tree(each.plan)}});
    io::set_given(entry, study::kIterationTime, each.iteration_s);
    if (each.planner->schedule == buckets::Schedule::mg_wfbp ||
        each.planner->schedule == buckets::Schedule::mg_wfbp_small_tensors) {
      entry.set("waiting_merges", each.plan.waiting_merges);
    }
    if (each.planner->schedule == buckets::Schedule::asc_wfbp) { // not bound by one channel
      entry.set("lower_bound_s", buckets::finish_lower_bound_at_once(
                                     file.problem, file.options_of(buckets::Schedule::asc_wfbp))
                                     .value);
    }
    planners.set(each.planner->name, std::move(entry));
  }
  return io::Object{
      {"planners", std::move(planners)},
      {"lower_bound_s", buckets::finish_lower_bound(file.problem).value},
      {"certified_optimal", buckets::certified_optimal(file.problem, greedy)},
      {"cost", io::Object{{"points_changed", static_cast<std::int64_t>(file.table.points_changed)},
                          {"largest_change", file.table.largest_change}}},
  };
}

// Each text once, with the planners it is about.
std::vector<std::string> warnings_of(const study::ProblemFile& file,
                                     const std::vector<Planned>& plans) {
  std::vector<std::string> warnings;
  if (!file.cost_warning.empty()) {
    warnings.push_back(file.cost_warning);
  }
  if (file.table.points_changed > 0) {
    warnings.push_back(fmt::format(
        "cost table made non-decreasing: {} points changed, the largest by {} %",
        file.table.points_changed, base::significant(file.table.largest_change * 100, 3)));
  }
  std::vector<std::pair<std::string, std::string>> texts; // warning, planners
  for (const Planned& each : plans) {
    for (const std::string& text : each.plan.warnings) {
      const auto same = std::ranges::find(texts, text, &std::pair<std::string, std::string>::first);
      if (same == texts.end()) {
        texts.emplace_back(text, each.planner->name);
      } else {
        same->second.append(", ").append(each.planner->name);
      }
    }
  }
  for (const auto& [text, names] : texts) {
    warnings.push_back(names + ": " + text);
  }
  return warnings;
}

// "best" marks all planners with the least finish time, since several often find the same plan.
std::string plan_text(const study::ProblemFile& file, const std::vector<Planned>& plans) {
  Table table{{"planner", "finish [ms]", "messages", "groups", ""}};
  if (file.forward_s) {
    table.headings.insert(table.headings.begin() + 1, "iteration [ms]");
  }
  const auto finish_of = [](const Planned& each) { return each.plan.finish.value; };
  const auto best = std::ranges::min_element(plans, {}, finish_of);
  for (const Planned& each : plans) {
    std::vector<std::string> row{
        std::string(each.planner->name), milliseconds_cell(each.plan.finish.value),
        std::to_string(each.plan.groups.size()),
        groups_cell(base::collected<Ends>(
            each.plan.groups,
            [](const buckets::Group& group) { return Ends(group.first() + 1, group.last() + 1); })),
        each.plan.finish == best->plan.finish ? "best" : ""};
    if (file.forward_s) {
      row.insert(row.begin() + 1, milliseconds_cell(each.iteration_s));
    }
    table.rows.push_back(std::move(row));
  }
  const bool at_once = std::ranges::any_of(plans, [](const Planned& each) {
    return each.planner->schedule == buckets::Schedule::asc_wfbp;
  });
  return table_text(table) + "\nlower bound " + (at_once ? "of one message at a time " : "") +
         milliseconds_cell(buckets::finish_lower_bound(file.problem).value) + " ms\n";
}

// Seconds of the planners on the first items of the problem.
double seconds_of_part(const study::ProblemFile& file,
                       const std::vector<const buckets::Planner*>& chosen, std::size_t items) {
  buckets::Problem part = file.problem;
  part.items.resize(items);
  const auto begin = std::chrono::steady_clock::now();
  for (const buckets::Planner* planner : chosen) {
    (void)buckets::make_plan(part, planner->schedule, file.options_of(planner->schedule));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// How long planners take depends on the cost too: small parts of a large problem are timed, and
// tell how the time grows with the items, from linear to quadratic. 0 for problems of usual size.
double expected_seconds(const study::ProblemFile& file,
                        const std::vector<const buckets::Planner*>& chosen) {
  constexpr std::size_t kMany = 4096;
  const std::size_t items = file.problem.items.size();
  if (items < kMany) {
    return 0;
  }
  const double smaller = seconds_of_part(file, chosen, items / 32);
  const double larger = seconds_of_part(file, chosen, items / 16);
  const double growth = std::clamp(larger / std::max(smaller, 1e-9), 2.0, 4.0); // when doubled
  return larger * growth * growth * growth * growth;
}

} // namespace

// A planner that is named twice runs once.
int plan(const Invocation& invocation) {
  PlanOptions options;
  CLI::App app;
  add_argument(app, "PROBLEM", options.file, "file of kind problem; - = standard input");
  add_value(app, "--planners", options.planners, "LIST",
            "which of those below; default " + options.planners);
  std::vector<buckets::Planner> rows(buckets::planners().begin(), buckets::planners().end());
  std::erase_if(rows, [](const auto& planner) { return !planner.fits_problem_files(); });
  app.footer(help_list("Planners", named(rows)));
  Common common(app, kPlanText, invocation);
  const std::vector<const buckets::Planner*> chosen = parse_planners(options.planners);
  study::Files files(invocation.data_folder, {common.output});
  const study::ProblemFile file = study::parse_problem(io::read_json(options.file), files);
  std::vector<Planned> plans;
  common.work.estimate(expected_seconds(file, chosen));
  for (const buckets::Planner* planner : chosen) {
    Planned& each = plans.emplace_back();
    each.planner = planner;
    each.plan =
        buckets::make_plan(file.problem, planner->schedule, file.options_of(planner->schedule));
    if (file.forward_s) {
      each.iteration_s = *file.forward_s + each.plan.finish.value;
    }
  }
  io::Json tree = plan_tree(file, plans);
  io::require_finite(tree);
  const std::vector<std::string> warnings = warnings_of(file, plans);
  tree.set("warnings", io::Array(warnings.begin(), warnings.end()));
  return write_document(common, {.text = [&] { return plan_text(file, plans); },
                                 .tree = [&] { return tree; },
                                 .warnings = warnings});
}

} // namespace stepsim::cli
