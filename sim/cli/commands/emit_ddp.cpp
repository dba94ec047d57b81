#include "cli/commands/emit.hpp"

#include <string>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/table.hpp"
#include "study/ddp_buckets.hpp"

namespace stepsim::cli {

namespace {

std::string steps_text(const study::DdpBuckets& buckets) {
  Table table{{"buckets", "iteration [ms]", "gain"}, {}};
  const auto add = [&](std::string name, Seconds step) {
    const double standard = buckets.default_step.value;
    table.rows.push_back({std::move(name), milliseconds_cell(step.value),
                          standard > 0 ? percent_cell(1 - step.value / standard) : "-"});
  };
  add("PyTorch's default", buckets.default_step);
  add("all of " + base::readable_size(buckets.cap.value), buckets.cap_step);
  if (buckets.list) {
    add("a list of " + std::to_string(buckets.list->size()), buckets.step);
  }
  return table_text(table) +
         (buckets.no_list.empty() ? "" : "no list of sizes: " + buckets.no_list + "\n");
}

} // namespace

int emit_ddp(const io::Json& scenario, study::Files& files, const study::RowsOptions& options,
             const Common& common) {
  if (format_of(common, Format::json) != Format::json) {
    throw UsageError("--emit ddp writes json only");
  }
  const study::DdpBuckets buckets = study::ddp_buckets(scenario, files, options);
  print_warnings(buckets.warnings, common);
  write_tree(common, study::ddp_buckets_tree(scenario, buckets));
  print_beside(steps_text(buckets), common);
  return kOk;
}

} // namespace stepsim::cli
