// Texts of flags to options; a flag that was not typed is an empty text.
#include "cli/commands/imported.hpp"

#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::cli {

namespace {

// A number of parameters: 110M, 7B, 1.5B or all its digits. Suffixes are powers of a thousand.
std::int64_t parameter_count(const std::string& text) {
  constexpr std::array<std::pair<char, int>, 8> kSuffixes{
      {{'k', 3}, {'K', 3}, {'m', 6}, {'M', 6}, {'g', 9}, {'G', 9}, {'b', 9}, {'B', 9}}};
  std::string_view digits = text;
  int exponent = 0;
  for (const auto& [suffix, power] : kSuffixes) {
    if (!digits.empty() && digits.back() == suffix && exponent == 0) {
      digits.remove_suffix(1);
      exponent = power;
    }
  }
  const auto whole = exponent == 0 ? io::parse_whole(digits) : std::nullopt;
  const auto value = whole          ? std::optional(static_cast<double>(*whole))
                     : exponent > 0 ? io::parse_scaled(digits, exponent)
                                    : std::nullopt;
  if (!value || *value < 1 || *value > 1e15 || std::round(*value) != *value) {
    throw UsageError("--parameters: must be a whole number from 1 to 1e15, as in 25557032, 110M or "
                     "7B, got " +
                     base::shown_value(text));
  }
  return static_cast<std::int64_t>(*value);
}

// Where gradient sizes come from besides the trace itself.
void size_options(const ImportFlags& flags, io::KinetoOptions& options) {
  options.sizes = given(flags.sizes);
  options.ddp_log = given(flags.ddp_log);
  options.flight_record = given(flags.flight_record);
  options.pytorch_et = given(flags.pytorch_et);
  if (options.ddp_log && options.flight_record) {
    throw UsageError("--ddp-log and --flight-record: give one of them, both hold the buckets");
  }
  if (!flags.sizes_order.empty()) {
    require_word("--sizes-order", flags.sizes_order, {"registration", "gradient"});
    if (flags.sizes.empty()) {
      throw UsageError("--sizes-order needs --sizes");
    }
    options.sizes_in_ready_order = flags.sizes_order == "gradient";
  }
  if (!flags.parameters.empty()) {
    options.parameters = parameter_count(flags.parameters);
  }
  if (!flags.dtype.empty()) {
    options.dtype = dtype_flag(flags.dtype);
  }
}

// The block `variability` of a scenario, without what has no meaning where nothing was measured.
io::Json variability_block(const layers::Variability& measured) {
  io::Json block = study::variability_tree(measured);
  study::drop_key(block, "/exchange_cv");
  if (measured.compute_cv == 0) {
    study::drop_key(block, "/distribution");
    study::drop_key(block, "/factors");
  }
  return block;
}

// Writes the file of --cost, and adds a line for each cost to the summary.
void write_costs(const ImportFlags& flags, const io::KinetoImport& imported, const Common& common,
                 Imported& result) {
  const io::MeasuredCosts& measured = imported.costs;
  if (measured.costs.empty()) {
    throw InputError(flags.files.front(), "", "--cost: no collective of a known size in the steps");
  }
  for (const io::LineCost& cost : measured.costs) {
    const bool bound = cost.grade == io::CostGrade::bound;
    result.summary += cost.op + " with " + base::counted(cost.ranks, "rank") + ": start-up " +
                      (bound ? "at most " : "") + base::readable_seconds(cost.startup_s) +
                      ", bus bandwidth " + (bound ? "at least " : "") +
                      base::significant(cost.bus_bandwidth_Bps / 1e9, 3) + " GB/s\n";
  }
  io::CostPoints file;
  file.name = io::stem_of(flags.cost);
  file.source = imported.trace.source ? io::to_json(*imported.trace.source) : io::Json();
  file.costs = measured.costs;
  write_named(common, flags.cost, io::pretty(io::to_json(file)));
  std::ranges::copy(measured.notes, std::back_inserter(result.warnings));
}

// The options of the Kineto importer. Flags that were not given keep the defaults of the importer.
// Throws UsageError for a value that cannot be parsed, and for flags that exclude or need another.
io::KinetoOptions kineto_options(const ImportFlags& flags) {
  io::KinetoOptions options;
  options.common = common_options(flags);
  options.batch_size = optional_count("--batch-size", flags.batch_size, io::at_least(1));
  options.skip_steps = optional_count("--skip-steps", flags.skip_steps, io::at_least(0))
                           .value_or(options.skip_steps);
  options.step_annotation = given(flags.step_annotation);
  options.model = given(flags.model);
  constexpr auto kBases = base::words<io::TimeBasis>();
  read_word("--time", flags.time, kBases, options.time);
  if (!flags.measured_step.empty()) {
    options.measured_step =
        Seconds{quantity("--measured-step", flags.measured_step, base::QuantityKind::time)};
  }
  if (!flags.backward_ratio.empty()) {
    options.backward_ratio =
        quantity("--backward-ratio", flags.backward_ratio, base::QuantityKind::ratio);
  }
  options.with_costs = !flags.cost.empty();
  options.keep_layers = flags.keep_layers;
  size_options(flags, options);
  return options;
}

} // namespace

std::optional<std::int64_t> ranks_of(const ImportFlags& flags) {
  return optional_count("--ranks", flags.ranks, io::at_least(1));
}

io::ImportOptions common_options(const ImportFlags& flags) {
  io::ImportOptions options;
  options.max_bytes = static_cast<std::uint64_t>(
      quantity("--max-bytes", flags.max_bytes, base::QuantityKind::size));
  options.importer = "stepsim " + std::string(version());
  options.name = flags.name;
  options.attribution = given(flags.attribution);
  options.licence = given(flags.licence);
  return options;
}

std::string dtype_flag(const std::string& text) {
  const auto word = io::dtype_of_pytorch(text);
  if (!word) {
    require_word("--dtype", text, layers::dtype_words());
  }
  return std::string(word->word);
}

std::vector<layers::ModelTable> known_models(ImportFlags& flags, study::Files& files) {
  std::vector<layers::ModelTable> tables;
  if (!study::is_shipped_name(flags.model)) {
    tables.push_back(files.model(io::Json(flags.model)));
    flags.model = tables.front().name;
  }
  for (const auto& [name, path] : shipped_files(files.data_folder(), study::kShippedModels)) {
    tables.push_back(files.model(io::Json(name)));
  }
  return tables;
}

io::KinetoImport kineto_job(ImportFlags& flags, study::Files& files, const Common& common) {
  std::optional<std::vector<layers::ModelTable>> tables;
  const auto read_tables = [&] {
    if (!tables) {
      tables = known_models(flags, files);
    }
    return std::span<const layers::ModelTable>(*tables);
  };
  if (!flags.model.empty()) {
    read_tables(); // a file becomes the name that it has
  }
  io::KinetoOptions options = kineto_options(flags);
  options.models = read_tables;
  options.common.read = counting_bytes(flags.files, common);
  io::KinetoImport imported = io::import_kineto_job(flags.files, options);
  if (!flags.allow_unknown_sizes) {
    require_gradients(imported.trace, flags.files.front(), imported.remedy);
  }
  return imported;
}

Imported imported_kineto(ImportFlags& flags, study::Files& files, const Common& common) {
  for (const auto& [flag, file] :
       {std::pair("--variability", &flags.variability), std::pair("--cost", &flags.cost)}) {
    if (*file == "-") {
      throw UsageError(std::string(flag) + ": needs a file, got -");
    }
  }
  const io::KinetoImport imported = kineto_job(flags, files, common);
  Imported result = imported_trace(imported.trace);
  if (!flags.cost.empty()) {
    write_costs(flags, imported, common, result);
  }
  if (!flags.variability.empty()) {
    const io::MeasuredVariability& measured = imported.variability;
    write_named(common, flags.variability, io::pretty(variability_block(measured.block)));
    std::ranges::copy(measured.notes, std::back_inserter(result.warnings));
  }
  if (!imported.sizes.empty()) {
    result.last_line = "sizes: " + imported.sizes + "\n";
  }
  return result;
}

} // namespace stepsim::cli
