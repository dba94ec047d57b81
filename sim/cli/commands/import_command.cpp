// stepsim import FORMAT FILE...: measured times of other tools as our files (IO 2 to 9).
// One function per format turns flags into the options of its importer; what they give back (tree,
// summary, warnings) is written in the same way for all.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/imported.hpp"
#include "cli/shell/flag_values.hpp"
#include "import/import_detect.hpp"
#include "import/import_layer_table.hpp"
#include "import/nccl/import_nccl_inspector.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "scenario/files/trace_file.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kImportText{
    "import",
    "FORMAT FILE... -o OUT",
    "Turns measurements of other tools into our files: kineto (PyTorch profiler), caffe-log and\n"
    "layer-table (CSV) into a trace; nccl-tests, nccl-inspector and osu into samples for\n"
    "stepsim-calibrate fit (a table where OUT ends in .csv), osu into a cost file where OUT ends\n"
    "in .cost.json; nccl-topology (NCCL_TOPO_DUMP_FILE of NCCL or RCCL) into a topology;\n"
    "pytorch-et (execution trace) into sizes without times; chakra (execution trace of\n"
    "MLCommons, .et or JSON) into a trace, or samples where OUT ends in .samples.json;\n"
    "astra-text (workload of ASTRA-sim or SimAI) into a trace; hf-config (config.json of a\n"
    "Hugging Face model) into a model table; auto detects the format. An archive (.tar.gz) with\n"
    "one file is opened. Prints a summary and warnings.",
    "stepsim import kineto rank0.json.gz rank1.json.gz -o traces/mine.json\n"
    "stepsim import osu allreduce8.log --op allreduce --ranks 8 -o allreduce8.cost.json\n"
    "stepsim import nccl-topology node.xml -o node.topology.json\n"
    "stepsim import chakra chakra.0.et -o traces/rank0.json\n"
    "stepsim import auto layers.csv -o traces/layers.json",
    R"(Formats are described in docs/file-formats.md; `stepsim check OUT` validates the result.
A table for --sizes is written inside the training program, before it wraps the model:
  import csv
  rows = [(n, p.numel(), str(p.dtype).split(".")[-1])
          for n, p in model.named_parameters() if p.requires_grad]
  csv.writer(open("sizes.csv", "w")).writerows([("name", "elements", "dtype"), *rows]))",
    kJsonOrCsv,
};

std::vector<std::string_view> format_words() {
  const auto formats = io::kImportFormats.all();
  std::vector<std::string_view> words(formats.begin(), formats.end());
  words.emplace_back("auto");
  return words;
}

// Only kineto and nccl-inspector take several files, of several ranks.
const std::string& single_file(const ImportFlags& flags) {
  if (flags.files.size() != 1) {
    throw UsageError("format " + flags.format + " takes one file, got " +
                     std::to_string(flags.files.size()));
  }
  return flags.files.front();
}

// A table whose layers have no sizes cannot be run: it is refused here, where something can be done
// about it, and not when it is used.
void require_sizes(const layers::Trace& trace, const ImportFlags& flags) {
  const std::vector<std::string> unknown = base::collected_if<std::string>(
      trace.layers, [](const layers::Layer& layer) { return !layer.gradient_bytes; },
      [](const layers::Layer& layer) { return base::shown_value(layer.name); });
  const bool some = std::ranges::any_of(trace.layers, [](const layers::Layer& layer) {
    return layer.gradient_bytes.value_or(Bytes{0}).value > 0;
  });
  if (flags.allow_unknown_sizes || (unknown.empty() && some)) {
    return;
  }
  std::string which = "no layer has a gradient";
  if (const std::size_t count = unknown.size(); count > 0) {
    constexpr std::size_t kShown = 3; // "addmm_1, addmm_2, addmm_3, ..."
    which = "the gradient sizes of " + std::to_string(count) + " of " +
            std::to_string(trace.layers.size()) + " layers are unknown (" +
            base::listed(std::span(unknown).first(std::min(kShown, count))) +
            (count > kShown ? ", ...)" : ")");
  }
  throw InputError(flags.files.front(), "",
                   which + "; a column with the parameters of each layer gives them"
                           " (--allow-unknown-sizes writes the times alone)");
}

// A trace is only of use with the sizes of its gradients.
Imported imported_sized(const layers::Trace& trace, const ImportFlags& flags) {
  require_sizes(trace, flags);
  return imported_trace(trace);
}

// The operation of --op; nothing if it was not typed.
std::optional<std::string> op_of(const ImportFlags& flags) {
  if (!flags.op.empty()) {
    require_word("--op", flags.op, io::kSampleOps);
  }
  return given(flags.op);
}

// Times are those of the column asked for, in place or not.
Imported imported_nccl_tests(const ImportFlags& flags) {
  io::NcclTestsOptions options;
  options.common = common_options(flags);
  options.op = op_of(flags);
  options.ranks = ranks_of(flags);
  read_word("--column", flags.column, io::kNcclColumns, options.column);
  const io::Samples samples = io::import_nccl_tests(single_file(flags), options);
  for (const io::SampleSet& set : samples.sets) {
    if (options.ranks.value_or(set.ranks) != set.ranks) {
      throw InputError(samples.file, "",
                       fmt::format("{}: {} ranks, expected {}", set.op, set.ranks, *options.ranks));
    }
  }
  return imported_samples(samples);
}

// The configuration of a model as a model table.
Imported imported_config(const ImportFlags& flags) {
  io::ParseLimits limits;
  limits.max_bytes = common_options(flags).max_bytes;
  const io::Json tree = io::read_json(single_file(flags), limits);
  const std::string name = flags.name.empty() ? io::config_name(tree) : flags.name;
  return imported_model(io::parse_model_config(tree, name));
}

// Runs the importer of the format, which is known by now. `target` decides between a cost file and
// samples for osu, and between a trace and samples for chakra.
Imported import_as(ImportFlags& flags, const std::string& target, study::Files& files,
                   const Common& common) {
  switch (*io::kImportFormats.find(flags.format)) {
  case io::ImportFormat::kineto:
    return imported_kineto(flags, files, common);
  case io::ImportFormat::layer_table:
    return imported_sized(io::import_layer_table(single_file(flags), common_options(flags)), flags);
  case io::ImportFormat::caffe_log: {
    const std::vector<layers::ModelTable> tables = known_models(flags, files);
    const io::CaffeLogOptions options{common_options(flags), given(flags.model), tables,
                                      ranks_of(flags)};
    return imported_sized(io::import_caffe_log(single_file(flags), options), flags);
  }
  case io::ImportFormat::pytorch_et:
    return imported_trace(io::trace_of_sizes(single_file(flags), common_options(flags)));
  case io::ImportFormat::chakra:
    return imported_chakra(single_file(flags), flags, target);
  case io::ImportFormat::astra_text:
    return imported_astra_text(single_file(flags), flags);
  case io::ImportFormat::hf_config:
    return imported_config(flags);
  case io::ImportFormat::nccl_tests:
    return imported_nccl_tests(flags);
  case io::ImportFormat::nccl_inspector:
    return imported_samples(io::import_nccl_inspector(flags.files, common_options(flags)));
  case io::ImportFormat::nccl_topology: {
    const auto imported = io::import_nccl_topology(single_file(flags), topology_options(flags));
    return {io::to_json(imported), topology_summary(imported), imported.topology.warnings};
  }
  case io::ImportFormat::osu: {
    io::OsuOptions options;
    options.common = common_options(flags);
    options.op = op_of(flags);
    options.ranks = ranks_of(flags);
    constexpr auto kValues = base::words<io::OsuValue>({{io::OsuValue::average, "avg"}});
    read_word("--value", flags.value, kValues, options.value);
    const io::OsuLog log = io::import_osu(single_file(flags), options);
    return target.ends_with(".cost.json") ? imported_cost(log)
                                          : imported_samples(io::samples_of(log));
  }
  }
  return {};
}

// The detected format is printed as a note: a wrong guess should be seen before its errors are
// read.
void resolve_format(ImportFlags& flags, const Common& common) {
  require_word("FORMAT", flags.format, format_words());
  if (flags.format != "auto") {
    return;
  }
  flags.format = io::kImportFormats[io::detect_file(flags.files.front())];
  print_note(flags.files.front() + ": format " + flags.format, common);
}

// An option with a value, or a switch. A format is looked for in `formats`, which works because the
// name of no format is a part of another; "": all read it.
struct ImportFlag {
  const char* name;
  std::string ImportFlags::*text; // null: a switch
  const char* type;
  const char* group;
  std::string_view formats;
  const char* description;
  bool ImportFlags::*is_set = nullptr;
};

constexpr const char* kKineto = "kineto";
constexpr const char* kAstra = "astra-text";
constexpr const char* kTimings = "osu, nccl-tests, chakra, caffe-log";
constexpr const char* kTopology = "nccl-topology";
constexpr const char* kAll = "All formats";

using Flags = ImportFlags;
constexpr auto kImportFlags = std::to_array<ImportFlag>(
    {{"--batch-size", &Flags::batch_size, "N", kKineto, kKineto,
      "samples per GPU; not in the file; default unknown"},
     {"--skip-steps", &Flags::skip_steps, "N", kKineto, kKineto,
      "warm-up steps left out; default 1"},
     {"--step-annotation", &Flags::step_annotation, "REGEX", kKineto, kKineto,
      "user annotation that marks a step; default ProfilerStep#N, Optimizer.step#"},
     {"--model", &Flags::model, "NAME|FILE", kKineto, "kineto caffe-log",
      "table with the gradient sizes (also caffe-log: names of the rows); default the one "
      "that fits"},
     {"--time", &Flags::time, "WORD", kKineto, kKineto,
      "kernel, or wall: scaled to the step's length; default kernel"},
     {"--measured-step", &Flags::measured_step, "TIME", kKineto, kKineto,
      "scale to this unprofiled step time, e.g. 90ms"},
     {"--backward-ratio", &Flags::backward_ratio, "R", kKineto, kKineto,
      "backward = R x forward, for forward-only traces; marks the result assumed"},
     {"--sizes", &Flags::sizes, "FILE", kKineto, kKineto,
      "CSV with name,elements[,dtype] of every parameter; see the snippet below"},
     {"--sizes-order", &Flags::sizes_order, "WORD", kKineto, kKineto,
      "of its rows: registration, or gradient (as they become ready); default registration"},
     {"--parameters", &Flags::parameters, "N", kKineto, kKineto,
      "elements of all gradients, e.g. 110M, spread over the backward pass (assumed)"},
     {"--dtype", &Flags::dtype, "TYPE", kKineto, "kineto chakra",
      "of gradients where no record says (also chakra); default float32"},
     {"--pytorch-et", &Flags::pytorch_et, "FILE", kKineto, kKineto,
      "PyTorch execution trace of the same job, with the sizes"},
     {"--ddp-log", &Flags::ddp_log, "FILE", kKineto, kKineto,
      "values of model._get_ddp_logging_data(), with the sizes of the buckets"},
     {"--flight-record", &Flags::flight_record, "FILE", kKineto, kKineto,
      "dump of PyTorch's flight recorder, as JSON, with the sizes of the buckets"},
     {"--keep-layers", nullptr, "", kKineto, kKineto,
      "of more than 400 layers, keep those without gradients; default joined to the next",
      &Flags::keep_layers},
     {"--variability", &Flags::variability, "FILE.json", kKineto, kKineto,
      "also writes how ranks and steps differ in computing, the block variability of a scenario"},
     {"--cost", &Flags::cost, "FILE.cost.json", kKineto, kKineto,
      "also writes what the collectives tell of the link, a cost for each operation and "
      "group size"},
     {"--allow-unknown-sizes", nullptr, "", "kineto, layer-table, chakra, astra-text",
      "kineto layer-table chakra astra-text",
      "writes a trace without gradient sizes, for its times alone; run refuses it",
      &Flags::allow_unknown_sizes},
     {"--tick", &Flags::tick, "TIME", kAstra, kAstra,
      "length of a tick; not in the file; default 1ns"},
     {"--drop-other-communication", nullptr, "", kAstra, kAstra,
      "keeps the communication that is data-parallel, and the times of all layers",
      &Flags::drop_other_communication},
     {"--ranks", &Flags::ranks, "N", kTimings, kTimings,
      "number of ranks; required for osu and for samples of chakra, whose files do not "
      "say; caffe-log: exchanges of the log are then compared by run"},
     {"--op", &Flags::op, "OP", kTimings, "osu nccl-tests",
      "operation; default by the title; of several tables only this one"},
     {"--value", &Flags::value, "WORD", kTimings, "osu", "osu: avg, min or max; default avg"},
     {"--column", &Flags::column, "WORD", kTimings, "nccl-tests",
      "nccl-tests: out-of-place or in-place; default the former"},
     {"--gpus", &Flags::gpus, "BUSID,...", kTopology, kTopology,
      "which PCI devices are GPUs, in the order of ranks; default by the file"},
     {"--pcie-efficiency", &Flags::pcie_efficiency, "F", kTopology, kTopology,
      "share of a PCIe link's line rate that data gets; default 0.76"},
     {"--pcie-default", &Flags::pcie_default, "SPEED:LANES", kTopology, kTopology,
      "of links whose speed or width is not in the file; default 8GT/s:16"},
     {"--latency", &Flags::latency, "KIND=TIME,...", kTopology, kTopology,
      "per cable; default nvlink=0.6us,pcie=1us,net=2.7us"},
     {"--max-bytes", &Flags::max_bytes, "SIZE", kAll, "",
      "most bytes read per file, inflated; default 8GiB"},
     {"--attribution", &Flags::attribution, "TEXT", kAll, "", "who to credit, kept in the result"},
     {"--licence", &Flags::licence, "TEXT", kAll, "", "of the data, kept in the result"}});

void add_flags(CLI::App& app, ImportFlags& flags) {
  add_argument(app, "FORMAT", flags.format, base::joined(format_words(), " or "));
  app.add_option("FILE", flags.files,
                 "input, .gz or not; kineto takes one per rank, nccl-inspector several")
      ->required();
  for (const ImportFlag& flag : kImportFlags) {
    CLI::Option* option =
        flag.text != nullptr
            ? add_value(app, flag.name, flags.*flag.text, flag.type, flag.description)
            : app.add_flag(flag.name, flags.*flag.is_set, flag.description);
    option->group(flag.group);
  }
}

// A flag that belongs to other formats is an error, not silence.
void refuse_foreign_flags(const ImportFlags& flags) {
  for (const ImportFlag& flag : kImportFlags) {
    const bool typed = flag.text != nullptr ? !(flags.*flag.text).empty() : flags.*flag.is_set;
    if (typed && !flag.formats.empty() && flag.formats.find(flags.format) == flag.formats.npos) {
      throw UsageError(std::string(flag.name) + " has no meaning for format " + flags.format);
    }
  }
}

// Only samples are a table.
bool gives_samples(const ImportFlags& flags, const std::string& target) {
  return flags.format == "osu" || flags.format == "nccl-tests" ||
         flags.format == "nccl-inspector" ||
         (flags.format == "chakra" && target.ends_with(".samples.csv"));
}

} // namespace

// The name of the result is that of -o, which outlives the input's.
int import_files(const Invocation& invocation) {
  ImportFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kImportText, invocation);
  resolve_format(flags, common);
  refuse_foreign_flags(flags);
  refuse_other_format(flags.files.front(), flags.format);
  const bool as_csv = format_of(common, Format::json) == Format::csv;
  if (as_csv && !gives_samples(flags, common.output)) {
    throw UsageError(asked_format(common) + ": stepsim import " + flags.format +
                     " writes json only");
  }
  if (common.output != "-") {
    flags.name = io::stem_of(common.output);
  }
  study::Files files(invocation.data_folder, {common.output});
  expect_reading(flags.files, common);
  const Imported imported = import_as(flags, common.output, files, common);
  if (as_csv) {
    write_output(common, imported.csv);
  } else {
    write_tree(common, imported.tree);
  }
  print_beside(imported.summary, common);
  print_warnings(imported.warnings, common);
  print_beside(imported.last_line, common);
  return kOk;
}

} // namespace stepsim::cli
