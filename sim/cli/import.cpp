// stepsim import FORMAT FILE...: measured times of other tools as our files (IO 2 to 9).
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/printable.hpp"
#include "base/quantity.hpp"
#include "cli/commands.hpp"
#include "cli/flag_values.hpp"
#include "cli/import_topology.hpp"
#include "cli/version.hpp"
#include "io/import_caffe_log.hpp"
#include "io/import_detect.hpp"
#include "io/import_kineto.hpp"
#include "io/import_layer_table.hpp"
#include "io/import_nccl_tests.hpp"
#include "io/import_osu.hpp"
#include "io/import_source.hpp"
#include "io/trace_file.hpp"
#include "study/files.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kText{
    "import",
    "FORMAT FILE... -o OUT",
    "Turns measurements of other tools into our files: kineto (PyTorch profiler), caffe-log and\n"
    "layer-table (CSV) into a trace; nccl-tests and osu into samples for stepsim-calibrate fit,\n"
    "osu into a cost file where OUT ends in .cost.json; nccl-topology (NCCL_TOPO_DUMP_FILE) into\n"
    "a topology; auto detects the format. Prints a summary and warnings.",
    "stepsim import kineto rank0.json.gz rank1.json.gz -o traces/mine.json\n"
    "stepsim import osu allreduce8.log --op allreduce --ranks 8 -o allreduce8.cost.json\n"
    "stepsim import nccl-topology node.xml -o node.topology.json\n"
    "stepsim import auto layers.csv -o traces/layers.json",
    "Formats are described in docs/file-formats.md; `stepsim check OUT` validates the result.",
    kJsonOnly,
};

constexpr std::array<std::string_view, 7> kFormats{
    "kineto", "caffe-log", "layer-table", "osu", "nccl-tests", "nccl-topology", "auto"};

struct ImportFlags { // as typed
  std::string format;
  std::string name; // of the result, from -o; empty: from the first input
  std::vector<std::string> files;
  std::string max_bytes = "8GiB", attribution, licence;
  std::string batch_size, skip_steps, step_annotation, model, time, measured_step, backward_ratio;
  std::string op, ranks, value, column;
  TopologyFlags topology;
};

// A flag that belongs to other formats is an error, not silence.
void refuse_foreign_flags(const ImportFlags& flags, std::string_view format) {
  struct Row {
    std::string_view flag;
    const std::string& value;
    std::string_view formats;
  };
  const std::array rows{
      Row{"--batch-size", flags.batch_size, "kineto"},
      Row{"--skip-steps", flags.skip_steps, "kineto"},
      Row{"--step-annotation", flags.step_annotation, "kineto"},
      Row{"--model", flags.model, "kineto caffe-log"},
      Row{"--time", flags.time, "kineto"},
      Row{"--measured-step", flags.measured_step, "kineto"},
      Row{"--backward-ratio", flags.backward_ratio, "kineto"},
      Row{"--op", flags.op, "osu nccl-tests"},
      Row{"--ranks", flags.ranks, "osu nccl-tests"},
      Row{"--value", flags.value, "osu"},
      Row{"--column", flags.column, "nccl-tests"},
      Row{"--gpus", flags.topology.gpus, "nccl-topology"},
      Row{"--pcie-efficiency", flags.topology.pcie_efficiency, "nccl-topology"},
      Row{"--pcie-default", flags.topology.pcie_default, "nccl-topology"},
      Row{"--latency", flags.topology.latency, "nccl-topology"},
  };
  for (const Row& row : rows) {
    if (!row.value.empty() && row.formats.find(format) == std::string_view::npos) {
      throw UsageError(std::string(row.flag) + " has no meaning for format " + std::string(format));
    }
  }
}

io::ImportOptions common_options(const ImportFlags& flags) {
  io::ImportOptions options;
  options.max_bytes = static_cast<std::uint64_t>(
      quantity("--max-bytes", flags.max_bytes, base::QuantityKind::size));
  options.importer = "stepsim " + std::string(version());
  options.name = flags.name;
  if (!flags.attribution.empty()) {
    options.attribution = flags.attribution;
  }
  if (!flags.licence.empty()) {
    options.licence = flags.licence;
  }
  return options;
}

std::vector<train::ModelTable> shipped_models(study::Files& files) {
  std::vector<train::ModelTable> tables;
  for (const auto& [name, path] : shipped_files(files.data_folder(), study::kShippedModels)) {
    tables.push_back(files.model(io::Json(name)));
  }
  return tables;
}

io::KinetoOptions kineto_options(const ImportFlags& flags) {
  io::KinetoOptions options;
  options.common = common_options(flags);
  if (!flags.batch_size.empty()) {
    options.batch_size = count("--batch-size", flags.batch_size, io::at_least(1));
  }
  if (!flags.skip_steps.empty()) {
    options.skip_steps = count("--skip-steps", flags.skip_steps, io::at_least(0));
  }
  if (!flags.step_annotation.empty()) {
    options.step_annotation = flags.step_annotation;
  }
  if (!flags.model.empty()) {
    options.model = flags.model;
  }
  if (!flags.time.empty()) {
    constexpr std::array<std::string_view, 2> kBases{"kernel", "wall"};
    require_word("--time", flags.time, kBases);
    options.time = flags.time == "wall" ? io::TimeBasis::wall : io::TimeBasis::kernel;
  }
  if (!flags.measured_step.empty()) {
    options.measured_step =
        Seconds{quantity("--measured-step", flags.measured_step, base::QuantityKind::time)};
  }
  if (!flags.backward_ratio.empty()) {
    options.backward_ratio =
        quantity("--backward-ratio", flags.backward_ratio, base::QuantityKind::ratio);
  }
  return options;
}

const std::string& single_file(const ImportFlags& flags) {
  if (flags.files.size() != 1) {
    throw UsageError("format " + flags.format + " takes one file, got " +
                     std::to_string(flags.files.size()));
  }
  return flags.files.front();
}

struct Imported {
  io::Json tree;
  std::string summary;
  std::vector<std::string> warnings;
};

std::string milliseconds(double seconds) { return base::significant(seconds * 1e3) + " ms"; }

Imported imported_trace(const train::Trace& trace) {
  double forward = 0;
  double backward = 0;
  double bytes = 0;
  std::size_t tensors = 0;
  for (const train::Layer& layer : trace.layers) {
    forward += layer.forward.value_or(Seconds{0}).value;
    backward += layer.backward.value_or(Seconds{0}).value;
    bytes += static_cast<double>(layer.gradient_bytes.value_or(Bytes{0}).value);
    tensors += layer.tensors.size();
  }
  std::string text = base::printable(trace.name) + ": " + std::to_string(trace.layers.size()) +
                     " layers, " + std::to_string(tensors) + " gradient tensors, " +
                     base::readable_bytes(bytes) + ", " +
                     std::string(train::name(trace.provenance)) + "\n";
  text += "forward " + milliseconds(forward) + ", backward " + milliseconds(backward) +
          ", update " + milliseconds((trace.update + trace.framework).value) + ", input " +
          milliseconds(trace.input.value) + "\n";
  if (!trace.buckets.empty()) {
    text += std::to_string(trace.buckets.size()) + " measured buckets";
    if (trace.checks) {
      text += ", " + std::to_string(trace.checks->steps_used) + " steps used, " +
              std::to_string(trace.checks->backward_matched) + " of " +
              std::to_string(trace.checks->backward_nodes) + " backward nodes matched";
    }
    text += "\n";
  }
  return {io::to_json(trace), text, trace.warnings};
}

Imported imported_cost(const io::OsuLog& log) {
  const io::CostPoints cost = io::cost_of(log);
  return {io::to_json(cost),
          base::printable(cost.name) + ": " + cost.op + " with " + std::to_string(cost.ranks) +
              " ranks, " + std::to_string(cost.table.size()) + " sizes, " +
              base::readable_bytes(cost.table.front().first) + " to " +
              base::readable_bytes(cost.table.back().first) + "\n",
          {}};
}

Imported imported_samples(const io::Samples& samples) {
  std::string text;
  for (const io::SampleSet& set : samples.sets) {
    text += base::printable(samples.name) + ": " + base::printable(set.op) + " with " +
            std::to_string(set.ranks) + " ranks, " + (set.column.empty() ? "" : set.column + ", ") +
            std::to_string(set.samples.size()) + " times\n";
  }
  return {io::to_json(samples), text, samples.warnings};
}

Imported imported_nccl_tests(const ImportFlags& flags) {
  io::NcclTestsOptions options;
  options.common = common_options(flags);
  if (!flags.op.empty()) {
    require_word("--op", flags.op, io::kSampleOps);
    options.op = flags.op;
  }
  if (!flags.ranks.empty()) {
    options.ranks = count("--ranks", flags.ranks, io::at_least(1));
  }
  if (!flags.column.empty()) {
    constexpr std::array<std::string_view, 2> kColumns{"out-of-place", "in-place"};
    require_word("--column", flags.column, kColumns);
    options.column =
        flags.column == kColumns[1] ? io::NcclColumn::in_place : io::NcclColumn::out_of_place;
  }
  return imported_samples(io::import_nccl_tests(single_file(flags), options));
}

Imported imported_topology(const ImportFlags& flags) {
  io::NcclTopologyOptions options = topology_options(flags.topology);
  options.common = common_options(flags);
  const io::NcclTopology imported = io::import_nccl_topology(single_file(flags), options);
  return {io::to_json(imported), topology_summary(imported), imported.topology.warnings};
}

Imported import_as(const ImportFlags& flags, const std::string& target, study::Files& files) {
  if (flags.format == "layer-table") {
    return imported_trace(io::import_layer_table(single_file(flags), common_options(flags)));
  }
  if (flags.format == "caffe-log") {
    const std::vector<train::ModelTable> tables = shipped_models(files);
    io::CaffeLogOptions options{common_options(flags), std::nullopt, tables};
    if (!flags.model.empty()) {
      options.model = flags.model;
    }
    return imported_trace(io::import_caffe_log(single_file(flags), options));
  }
  if (flags.format == "nccl-tests") {
    return imported_nccl_tests(flags);
  }
  if (flags.format == "nccl-topology") {
    return imported_topology(flags);
  }
  if (flags.format == "osu") {
    io::OsuOptions options;
    options.common = common_options(flags);
    if (!flags.op.empty()) {
      options.op = flags.op;
    }
    if (!flags.ranks.empty()) {
      options.ranks = count("--ranks", flags.ranks, io::at_least(1));
    }
    if (!flags.value.empty()) {
      constexpr std::array<std::string_view, 3> kValues{"avg", "min", "max"};
      require_word("--value", flags.value, kValues);
      options.value = flags.value == "avg"   ? io::OsuValue::average
                      : flags.value == "min" ? io::OsuValue::min
                                             : io::OsuValue::max;
    }
    const io::OsuLog log = io::import_osu(single_file(flags), options);
    return target.ends_with(".cost.json") ? imported_cost(log)
                                          : imported_samples(io::samples_of(log));
  }
  const std::vector<train::ModelTable> tables = shipped_models(files);
  io::KinetoOptions options = kineto_options(flags);
  options.models = tables;
  return imported_trace(io::import_kineto(flags.files, options));
}

void resolve_format(ImportFlags& flags, const Common& common) {
  require_word("FORMAT", flags.format, kFormats);
  if (flags.format != "auto") {
    return;
  }
  const std::string_view found = io::name(io::detect_file(flags.files.front()));
  print_note(flags.files.front() + ": format " + std::string(found), common);
  flags.format = found;
  if (std::ranges::find(kFormats, found) == kFormats.end()) {
    throw InputError(flags.files.front(), "",
                     "format " + std::string(found) + " is not imported by this version");
  }
}

void add_flags(CLI::App& app, ImportFlags& flags) {
  app.add_option("FORMAT", flags.format,
                 "kineto, caffe-log, layer-table, osu, nccl-tests, "
                 "nccl-topology or auto")
      ->required();
  app.add_option("FILE", flags.files, "input, .gz or not; kineto takes one per rank")->required();
  const auto add = [&app](const char* name, std::string& value, const char* type,
                          const char* description, const char* group) {
    app.add_option(name, value, description)->type_name(type)->group(group);
  };
  constexpr const char* kKineto = "kineto";
  add("--batch-size", flags.batch_size, "N", "samples per GPU; not in the file; default unknown",
      kKineto);
  add("--skip-steps", flags.skip_steps, "N", "warm-up steps left out; default 1", kKineto);
  add("--step-annotation", flags.step_annotation, "REGEX",
      "user annotation that marks a step; default ProfilerStep#N, Optimizer.step#", kKineto);
  add("--model", flags.model, "NAME",
      "table with the gradient sizes (also caffe-log: names of the rows); default the one that "
      "fits",
      kKineto);
  add("--time", flags.time, "WORD", "kernel, or wall: scaled to the step's length; default kernel",
      kKineto);
  add("--measured-step", flags.measured_step, "TIME",
      "scale to this unprofiled step time, e.g. 90ms", kKineto);
  add("--backward-ratio", flags.backward_ratio, "R",
      "backward = R x forward, for forward-only traces; marks the result assumed", kKineto);
  constexpr const char* kTimes = "osu, nccl-tests";
  add("--ranks", flags.ranks, "N", "number of ranks; required for osu, whose files do not say",
      kTimes);
  add("--op", flags.op, "OP", "operation; default by the title; of several tables only this one",
      kTimes);
  add("--value", flags.value, "WORD", "osu: avg, min or max; default avg", kTimes);
  add("--column", flags.column, "WORD", "nccl-tests: out-of-place or in-place; default the former",
      kTimes);
  constexpr const char* kTopology = "nccl-topology";
  add("--gpus", flags.topology.gpus, "BUSID,...",
      "which PCI devices are GPUs, in the order of ranks; default by the file", kTopology);
  add("--pcie-efficiency", flags.topology.pcie_efficiency, "F",
      "share of a PCIe link's line rate that data gets; default 0.76", kTopology);
  add("--pcie-default", flags.topology.pcie_default, "SPEED:LANES",
      "of links whose speed or width is not in the file; default 8GT/s:16", kTopology);
  add("--latency", flags.topology.latency, "KIND=TIME,...",
      "per cable; default nvlink=0.6us,pcie=1us,net=2.7us", kTopology);
  constexpr const char* kAll = "All formats";
  add("--max-bytes", flags.max_bytes, "SIZE", "most bytes read per file, inflated; default 8GiB",
      kAll);
  add("--attribution", flags.attribution, "TEXT", "who to credit, kept in the result", kAll);
  add("--licence", flags.licence, "TEXT", "of the data, kept in the result", kAll);
}

} // namespace

int import_files(const Invocation& invocation) {
  ImportFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common;
  if (!parse(app, kText, invocation, common)) {
    return kOk;
  }
  resolve_format(flags, common);
  refuse_foreign_flags(flags, flags.format);
  if (common.output != "-") {
    flags.name = io::stem_of(common.output);
  }
  study::Files files(invocation.data_folder, {common.output});
  const Imported imported = import_as(flags, common.output, files);
  write_tree(common, imported.tree);
  print_beside(imported.summary, common);
  print_warnings(imported.warnings, common);
  return kOk;
}

} // namespace stepsim::cli
