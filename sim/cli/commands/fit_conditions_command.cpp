// stepsim fit-conditions MEASURED -o CONDITIONS: factors of typical conditions, fitted to measured
// steps.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/shell/entry.hpp"
#include "study/fits.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kFitConditionsText{
    "fit-conditions",
    "MEASURED",
    "Fits the factors of typical conditions to measured steps: what the runs of one site lose,\n"
    "starting from what other sites lose, each factor within its range. A single step helps.",
    "stepsim fit-conditions mine.steps.json -o mine.conditions.json\n"
    "stepsim run s.json --conditions typical --set /conditions/file=mine.conditions.json",
    "MEASURED is of kind measured_steps, the output of kind conditions: docs/file-formats.md.",
    kJsonOrTable,
};

// Values with the ends of the range that holds 80 % of what is possible.
std::string with_range(study::Factor factor, const study::FactorValue& value) {
  return base::significant(value.value) + " (" +
         base::significant(study::moved(factor, value, -study::kDeviationsOf80), 2) + " to " +
         base::significant(study::moved(factor, value, study::kDeviationsOf80), 2) + ")";
}

std::vector<Table> fit_tables(const study::ConditionsFit& fit) {
  Table factors{{"factor", "of other sites", "fitted", ""}};
  for (const study::Factor factor : fit.fitted) {
    const auto at = static_cast<std::size_t>(factor);
    factors.rows.push_back({std::string(study::kFactors[factor]),
                            with_range(factor, fit.before[at]), with_range(factor, fit.after[at]),
                            std::string(study::meaning(factor))});
  }
  Table rows{{"row", "measured [ms]", "predicted [ms]", "error %", "fitted [ms]", "error %"}};
  for (const study::FittedRow& row : fit.rows) {
    const auto error = [&](double predicted) {
      return base::percent_number(predicted / row.measured_s - 1);
    };
    rows.rows.push_back({std::to_string(rows.rows.size()), base::significant(row.measured_s * 1e3),
                         base::significant(row.before_s * 1e3), error(row.before_s),
                         base::significant(row.after_s * 1e3), error(row.after_s)});
  }
  return {std::move(factors), std::move(rows)};
}

} // namespace

int fit_conditions_command(const Invocation& invocation) {
  std::string name;
  CLI::App app;
  add_argument(app, "MEASURED", name, "file of kind measured_steps; - = standard input");
  Common common(app, kFitConditionsText, invocation);
  study::Files files(invocation.data_folder, {common.output});
  const io::Json tree = io::read_json(name);
  const study::ConditionsFit fit = study::fit_conditions(tree, files);
  constexpr double kFar = 0.5;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const study::FittedRow& row = fit.rows[i];
    if (std::abs(row.after_s / row.measured_s - 1) > kFar) {
      print_warnings(
          {{"row " + std::to_string(i) + ": measured " + base::readable_seconds(row.measured_s) +
            ", " + base::readable_seconds(row.after_s) +
            " with the fitted factors: another unit, or something that no factor "
            "describes"}},
          common);
    }
  }
  return write_document(common, {.tables = [&] { return fit_tables(fit); },
                                 .tree = [&] { return study::conditions_tree(fit); }});
}

} // namespace stepsim::cli
