// Tables are cut to the largest rows; --json has all of them. Shares are parts of the period.
#include "cli/text/answer_texts.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kMostRows = 12;

using programs::Share;
using study::Explained;

std::string heading(const Explained& explained) {
  const programs::Program& program = explained.program;
  return labelled({{explained.source, explained.name.empty() ? "unnamed" : explained.name},
                   {"operations", std::to_string(program.iteration_size()) + " on " +
                                      base::counted(std::ssize(program.streams), "stream") + ", " +
                                      base::counted(std::int64_t{program.ranks}, "rank")},
                   {"method", std::string(programs::kEvaluators[explained.explanation.evaluator])}},
                  16);
}

std::string share_cell(double seconds, double period) {
  return period > 0 ? percent_cell(seconds / period) : "-";
}

// The largest shares; what is cut is one row, so that the rows add up. What rounding leaves is
// none.
std::string shares_table(const std::string& heading, programs::Shares shares, double period) {
  constexpr double kRounding = 1e-9;
  std::erase_if(shares,
                [&](const Share& each) { return std::abs(each.seconds) < kRounding * period; });
  Table table{{heading, "[ms]", "share"}};
  double rest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    if (i + 1 >= kMostRows && shares.size() > kMostRows) {
      rest += share.seconds;
      continue;
    }
    table.rows.push_back(
        {share.name, milliseconds_cell(share.seconds), share_cell(share.seconds, period)});
  }
  if (shares.size() > kMostRows) {
    table.rows.push_back({"all others", milliseconds_cell(rest), share_cell(rest, period)});
  }
  return "\n" + table_text(table);
}

std::string times_table(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const std::string band = explained.band ? base::readable_band(*explained.band, 1e3) : "";
  Table table{{"", "[ms]", "share", ""}};
  const auto row = [&](std::string name, double seconds, std::string beside = {}) {
    table.rows.push_back({std::move(name), milliseconds_cell(seconds), share_cell(seconds, period),
                          std::move(beside)});
  };
  const bool has_steps = explained.program.steps > 1;
  row("period", period, has_steps ? "" : band);
  if (has_steps) {
    row("step, of " + std::to_string(explained.program.steps), explained.step_s, band);
  }
  row("exposed communication", explained.explanation.exposed_s);
  if (explained.program.interference.any()) {
    row("  of that interference", explained.explanation.interference_s);
  }
  table.rows.push_back({"makespan of " + std::to_string(explained.iterations) + " iterations",
                        milliseconds_cell(explained.makespan_s), "-", ""});
  return "\n" + table_text(table);
}

// Operations of the cycle in order; of a recorded run, those with the largest shares.
std::string path_table(const Explained& explained) {
  const programs::BindingPath& path = explained.explanation.path;
  std::vector<programs::PathStep> steps = path.steps;
  std::erase_if(steps, [](const programs::PathStep& step) { return step.seconds() == 0; });
  const bool cut = steps.size() > 2 * kMostRows || !path.exact;
  if (cut) {
    std::ranges::stable_sort(steps, std::ranges::greater(), &programs::PathStep::seconds);
    steps.resize(std::min(steps.size(), kMostRows));
  }
  Table table{{path.exact ? "critical cycle" : "critical path", "kind", "[ms]", "share"}};
  for (const programs::PathStep& step : steps) {
    const programs::Operation& operation = explained.program.operations[step.operation];
    const double seconds = step.seconds() / path.iterations;
    table.rows.push_back({operation.id, std::string(programs::kKinds[operation.kind]),
                          milliseconds_cell(seconds), share_cell(seconds, path.period_s)});
  }
  std::string out = "\n" + table_text(table);
  if (cut && path.steps.size() > steps.size()) {
    out += fmt::format("the largest {} of {}; --json lists all\n", steps.size(), path.steps.size());
  }
  if (path.exact && path.iterations > 1) {
    out += "the cycle spans " + base::shortest(path.iterations) + " iterations\n";
  }
  return out;
}

std::string derivatives_table(const Explained& explained) {
  if (explained.explanation.sensitivities.empty()) {
    return "";
  }
  Table table{{"change of the period [s] per unit of", "falling", "rising", "found"}};
  for (const programs::Sensitivity& each : explained.explanation.sensitivities) {
    table.rows.push_back(
        {each.parameter, cell(each.left), cell(each.right), each.exact ? "exact" : "numeric"});
  }
  return "\n" + table_text(table);
}

std::string what_if_table(const Explained& explained) {
  Table table = changes_table("with one change, run again", explained.what_if);
  if (std::ranges::none_of(explained.what_if,
                           [](const study::WhatIf& each) { return each.gain_range.has_value(); })) {
    table.headings.resize(3);
    for (std::vector<std::string>& row : table.rows) {
      row.resize(3);
    }
  }
  return table.rows.empty() ? "" : "\n" + table_text(table);
}

std::string measured_table(const Explained& explained) {
  if (!explained.measured) {
    return "";
  }
  const study::Measured& measured = *explained.measured;
  Table table{{"cause, run alone", "step [ms]", "explains [ms]"}};
  table.rows.push_back({"measured minus predicted", milliseconds_cell(measured.step_s),
                        milliseconds_cell(measured.gap_s)});
  for (const study::Cause& each : measured.causes) {
    table.rows.push_back(
        {"  " + each.cause, milliseconds_cell(each.step_s), milliseconds_cell(each.explains_s)});
  }
  table.rows.push_back({"  unexplained", "-", milliseconds_cell(measured.unexplained_s)});
  return "\n" + table_text(table) + "each cause is run alone; together they need not add up\n";
}

} // namespace

Table changes_table(std::string heading, std::span<const study::WhatIf> changes) {
  Table table{{std::move(heading), "step [ms]", "gain", "80 % interval", ""}};
  for (const study::WhatIf& each : changes) {
    const auto& range = each.gain_range;
    table.rows.push_back(
        {each.change, milliseconds_cell(each.step_s), percent_cell(part_of(each.gain, 1)),
         range ? percent_cell(range->first) + " to " + percent_cell(range->second) : "-",
         each.is_sure ? "" : "not told apart"});
  }
  return table;
}

std::string program_text(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const programs::Attribution& shares = explained.explanation.attribution;
  return heading(explained) + times_table(explained) +
         shares_table("critical path by kind", shares.by_kind, period) +
         shares_table("critical path by link", shares.by_link, period);
}

std::string explain_text(const Explained& explained) {
  const double period = explained.explanation.path.period_s;
  const programs::Attribution& shares = explained.explanation.attribution;
  const auto line = [](const std::string& sentence) { return base::printable(sentence) + "\n"; };
  return base::listed(explained.sentences, line, "") + what_if_table(explained) +
         measured_table(explained) + "\n" + heading(explained) + times_table(explained) +
         path_table(explained) + shares_table("critical path by kind", shares.by_kind, period) +
         shares_table("critical path by link", shares.by_link, period) +
         shares_table("critical path by unit", shares.by_unit, period) +
         shares_table("critical path by layer", shares.by_layer, period) +
         derivatives_table(explained);
}

} // namespace stepsim::cli
