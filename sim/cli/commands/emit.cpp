#include "cli/commands/emit.hpp"

#include "base/printable.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/csv.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "nccl/tuner_table.hpp"
#include "run/memory_figures.hpp"
#include "run/sharding_plan.hpp"
#include "study/plan_training.hpp"
#include "study/tune.hpp"

#include <CLI/CLI.hpp>

namespace stepsim::cli {

namespace {

using nccl::TunerLine;

constexpr std::string_view kModel = "model";
constexpr std::size_t kLeastSizes = 3; // of a measured operation

// "LOG@ring/simple" as the file and the pair. The last @ counts, since names of files may have one.
std::pair<std::string, nccl::Pair> forced_log(std::string_view text) {
  const std::size_t at = text.rfind('@');
  const std::size_t slash = text.rfind('/');
  if (at == std::string_view::npos || slash == std::string_view::npos || slash < at) {
    throw UsageError("--from " + std::string(text) +
                     ": must be model or logs with what they were forced to, such as "
                     "a.log@ring/simple");
  }
  const std::string_view algorithm = text.substr(at + 1, slash - at - 1);
  const std::string_view protocol = text.substr(slash + 1);
  const auto known = nccl::kAlgorithms.find(algorithm);
  if (!known || *known == nccl::Algorithm::p2p) {
    const auto all = nccl::kAlgorithms.all();
    throw UsageError("--from: " + base::unknown_word("algorithm of the library", algorithm,
                                                     all.first(all.size() - 1)));
  }
  const auto sends = nccl::kProtocols.find(protocol);
  if (!sends) {
    throw UsageError("--from: " + base::unknown_word("protocol", protocol, nccl::kProtocols.all()));
  }
  return {std::string(text.substr(0, at)), {*known, *sends}};
}

// The times of all logs. They are of the ranks of the scenario.
std::vector<nccl::ForcedTime> forced_times(std::string_view list, double ranks,
                                           const Common& common) {
  std::vector<nccl::ForcedTime> times;
  for (const std::string_view each : io::split(list)) {
    const auto [file, pair] = forced_log(each);
    io::NcclTestsOptions options;
    options.skip_bad_times = true;
    const io::Samples samples = io::import_nccl_tests(file, options);
    print_warnings(samples.warnings, common);
    for (const io::SampleSet& set : samples.sets) {
      const auto operation = nccl::kOperations.find(set.op);
      if (!operation || *operation == nccl::Operation::alltoall) {
        throw UsageError("--emit nccl-tuner: the table of the plug-in has no " + set.op +
                         ", which is in " + base::printable(file));
      }
      if (static_cast<double>(set.ranks) != ranks) {
        throw InputError(file, "",
                         "measured on " + base::counted(set.ranks, "rank") + "; the scenario has " +
                             base::shortest(ranks));
      }
      for (const io::Sample& sample : set.samples) {
        if (sample.bytes > 0) {
          times.push_back({*operation, sample.bytes, pair, sample.time_s});
        }
      }
    }
  }
  std::map<nccl::Operation, std::set<double>> sizes;
  for (const nccl::ForcedTime& time : times) {
    sizes[time.operation].insert(time.bytes);
  }
  for (const auto& [operation, found] : sizes) {
    if (found.size() < kLeastSizes) {
      throw UsageError(fmt::format("--from: {} was measured at {} sizes; at least 3 are needed",
                                   nccl::kOperations[operation], found.size()));
    }
  }
  return times;
}

std::string gains_text(const std::vector<TunerLine>& lines) {
  Table table{{"operation", "from", "to", "algorithm/protocol", "gain", ""}};
  for (const TunerLine& line : lines) {
    table.rows.push_back({std::string(nccl::kOperations[line.operation]),
                          base::readable_bytes(static_cast<double>(line.first_byte)),
                          base::readable_bytes(static_cast<double>(line.last_byte)),
                          std::string(nccl::kAlgorithms[line.pair.algorithm]) + "/" +
                              std::string(nccl::kProtocols[line.pair.protocol]),
                          percent_cell(line.gain), line.differs ? "" : "as NCCL chooses"});
  }
  return table_text(table);
}

// stepsim plan-training SCENARIO --only units: the sharding units with the shortest iteration, next
// to the units of the framework (TRN 6).

void require_units(const study::Scenario& scenario, std::string_view what) {
  if (!study::has_units(scenario.training.sharding)) {
    throw UsageError(std::string(what) +
                     ": needs sharded parameters; --set /training/sharding=full_shard");
  }
}

std::string planning_text(const study::Scenario& scenario, const study::UnitPlanning& planning) {
  Table table{{"wrapping", "iteration [ms]", "longer by [%]", "units", "memory", "fits", "layers"}};
  const double best = planning.rows.front().step_s;
  for (const study::PlannedUnits& row : planning.rows) {
    table.rows.push_back(
        {row.name, milliseconds_cell(row.step_s),
         best > 0 ? cell((row.step_s / best - 1) * 100) : "-", std::to_string(row.units.size()),
         base::readable_bytes(row.memory_bytes),
         row.fits                             ? *row.fits ? "yes" : "no"
         : !scenario.cluster.gpu_memory_bytes ? "-"
         : study::known_activations(scenario) ? "may not"
                                              : "activations are not known",
         groups_cell(base::collected<Ends>(row.units, [](const study::UnitResult& unit) {
           return Ends(unit.first, unit.last);
         }))});
  }
  const buckets::UnitPlan& plan = planning.plan;
  const bool blocks = study::unit_parts(scenario).size() < scenario.workload.layers.size();
  const std::string units = blocks ? "other units of whole blocks " : "other units ";
  return table_text(table) + "\n" +
         (plan.certified ? "no " + units + "have a shorter iteration\n"
                         : fmt::format("{}may be shorter by {} % at most\n", units,
                                       base::significant(plan.gap() / (1 + plan.gap()) * 100, 3)));
}

std::string steps_text(const study::DdpBuckets& buckets) {
  Table table{{"buckets", "iteration [ms]", "gain"}};
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

// What only one format can hold.
void require_only(Format format, const Common& common, const char* what) {
  if (format_of(common, format) != format) {
    throw UsageError(what + std::string(" writes ") + std::string(kFormats[format]) + " only");
  }
}

} // namespace

void add_tuner_flags(CLI::App& app, TunerFlags& flags) {
  constexpr const char* kGroup = "With --emit nccl-tuner";
  add_value(app, "--from", flags.from, "SOURCE",
            "model (default), or logs of nccl-tests of forced runs with what they were "
            "forced to: LOG@ring/simple,LOG@tree/ll,...",
            kGroup);
  add_value(app, "--min-gain", flags.min_gain, "RATIO",
            "a change from NCCL's own choice gains at least this; default 0 %", kGroup);
  add_value(app, "--max-bytes", flags.max_bytes, "SIZE",
            "where the last line ends; default 4294967295", kGroup);
}

bool any_given(const TunerFlags& flags) {
  return !flags.from.empty() || !flags.min_gain.empty() || !flags.max_bytes.empty();
}

// Without a line that differs the table is empty: NCCL then decides as it would without it.
int emit_nccl_tuner(const study::Scenario& scenario, const TunerFlags& flags,
                    const Common& common) {
  require_only(Format::csv, common, "--emit nccl-tuner");
  if (!scenario.communication.question) {
    throw UsageError("--emit nccl-tuner: needs collective library among several ranks: give "
                     "/cluster/preset, or /communication/library/calibration");
  }
  const nccl::LibraryQuestion& question = *scenario.communication.question;
  const double least_gain = quantity("--min-gain", flags.min_gain.empty() ? "0" : flags.min_gain,
                                     base::QuantityKind::ratio, io::at_least(0));
  const std::uint64_t last_byte =
      flags.max_bytes.empty()
          ? nccl::kTunerLastByte
          : static_cast<std::uint64_t>(quantity("--max-bytes", flags.max_bytes,
                                                base::QuantityKind::size, io::between(8, 1e15)));
  const nccl::LibraryModel model = nccl::library_model(question);
  const nccl::Layout layout = nccl::layout_of(question.node, question.shape);
  const bool measured = !flags.from.empty() && flags.from != kModel;
  const std::vector<nccl::ForcedTime> times =
      measured ? forced_times(flags.from, layout.ranks, common) : std::vector<nccl::ForcedTime>{};
  std::vector<double> sizes; // powers of two
  for (double bytes = 8; bytes <= static_cast<double>(last_byte); bytes *= 2) {
    sizes.push_back(bytes);
  }
  std::vector<TunerLine> lines;
  for (const nccl::Operation operation : nccl::kTunerOperations) {
    const std::vector<nccl::TunerSize> decided =
        measured ? nccl::tuner_sizes(times, layout, operation, model.restrictions, least_gain)
                 : nccl::tuner_sizes(model, layout, operation, sizes, least_gain);
    const std::vector<TunerLine> more = nccl::tuner_lines(operation, decided, last_byte);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (std::ranges::none_of(lines, &TunerLine::differs)) {
    lines.clear();
  }
  const std::string source =
      measured ? std::string("measured times")
      : question.calibration != nullptr
          ? "calibration " + base::printable(question.calibration->fitted.name)
          : std::string("published constants, no measurements");
  write_output(common, nccl::tuner_text(lines, question.shape,
                                        "stepsim " + std::string(version()) + ", " +
                                            base::printable(question.node.name) + ", " +
                                            nccl::text(question.shape) + ", " + source));
  print_beside(lines.empty() ? "no line differs from what NCCL chooses by itself\n"
                             : gains_text(lines),
               common);
  return kOk;
}

int emit_ddp(const io::Json& scenario, study::Files& files, const study::SweepOptions& options,
             const Common& common) {
  require_only(Format::json, common, "--emit ddp");
  const study::DdpBuckets buckets = study::ddp_buckets(scenario, files, options);
  print_warnings(buckets.warnings, common);
  write_tree(common, study::ddp_buckets_tree(scenario, buckets));
  print_beside(steps_text(buckets), common);
  return kOk;
}

int plan_units(const study::Scenario& scenario, const std::string& file, const Common& common) {
  require_units(scenario, "--only units");
  // A device that does not hold what no division changes is an error of its number.
  if (const buckets::UnitMemory memory = study::unit_memory(scenario);
      memory.fixed_bytes > memory.limit_bytes) {
    throw InputError(file, "/cluster/gpu_memory_bytes", study::too_small(memory));
  }
  const study::UnitPlanning planning = study::plan_sharding_units(scenario);
  return write_document(common,
                        {.text = [&] { return planning_text(scenario, planning); },
                         .tree = [&] { return study::unit_planning_tree(scenario, planning); },
                         .warnings = planning.warnings});
}

int emit_fsdp(const study::Scenario& scenario, const io::Json& tree, const Common& common) {
  require_only(Format::json, common, "--emit fsdp");
  require_units(scenario, "--emit fsdp");
  const study::UnitPlanning planning = study::plan_sharding_units(scenario);
  print_warnings(planning.warnings, common);
  write_tree(common, study::fsdp_units_tree(scenario, tree, planning));
  print_beside(planning_text(scenario, planning), common);
  return kOk;
}

} // namespace stepsim::cli
