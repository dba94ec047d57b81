// stepsim study TRACE..: from a recorded trace to a decision. The trace is imported, its step is
// explained on the machine that it came from, and what was measured beside its kernels is carried
// to other numbers of GPUs.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/imported.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/report/result_page.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/answer_texts.hpp"
#include "import/import_detect.hpp"
#include "plot/svg.hpp"
#include "run/result_file.hpp"
#include "scenario/files/trace_file.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

constexpr CommandText kStudyText{
    "study",
    "TRACE...",
    "Answers a trace of the PyTorch profiler in one go: what its step is made of, how long a step\n"
    "is on more GPUs, what would help there, and what to measure next. It predicts kernels and\n"
    "exchanges over ideal links and keeps the other parts of the step as recorded. With -o it "
    "writes\n"
    "the scenario, the result and a page of HTML into a folder.",
    "stepsim study rank0.json.gz rank1.json.gz -o mine\n"
    "stepsim study rank0.json.gz --cluster dgx_a100 --network 100g-roce --gpus 8:512:x2 -o mine\n"
    "stepsim study gpt2.h100 --logs nccl-1x8.log nccl-2x8.log\n"
    "stepsim study resnet50.ddp.2xa100",
    "docs/file-formats.md describes the files; stepsim presets lists node types.",
    kJsonOrTable,
};

struct StudyFlags {
  ImportFlags import;
  std::string cluster, network;
  std::string gpus = "8:512:x2";
  std::vector<std::string> logs;
  bool ideal = false, must_fit = false;
};

void add_flags(CLI::App& app, StudyFlags& flags) {
  app.add_option("TRACE", flags.import.files,
                 "files of the profiler, one per rank; or one trace that was imported, or the name "
                 "of a shipped one")
      ->required();
  add_value(app, "--cluster", flags.cluster, "NAME|FILE",
            "node type to answer for; default the one with the trace's GPU");
  add_value(app, "--network", flags.network, "NAME|FILE",
            "network between the machines; default that of the node type");
  add_value(app, "--logs", flags.logs, "FILE...",
            "logs of nccl-tests, folders of them or CSV, from the cluster to answer for: the "
            "library's times are fitted to them")
      ->delimiter(',');
  add_value(app, "--gpus", flags.gpus, "LIST",
            "numbers of GPUs, a list or range; default 8:512:x2");
  add_value(app, "--batch-size", flags.import.batch_size, "N",
            "samples per GPU; not in the profiler's file; default unknown");
  add_value(app, "--parameters", flags.import.parameters, "N",
            "elements of all gradients, e.g. 110M, where the file has no sizes (assumed spread)");
  add_value(app, "--model", flags.import.model, "NAME|FILE",
            "table with the gradient sizes, where the file has no sizes");
  add_value(app, "--sizes", flags.import.sizes, "FILE",
            "CSV with name,elements[,dtype] of every parameter, where the file has no sizes");
  add_value(app, "--step-annotation", flags.import.step_annotation, "REGEX",
            "user annotation that marks a step; default ProfilerStep#N, Optimizer.step#");
  add_value(app, "--backward-ratio", flags.import.backward_ratio, "R",
            "backward = R x forward, where the file has a forward pass alone");
  app.add_flag("--ideal", flags.ideal, "kernel times over ideal links: nothing is carried");
  add_must_fit_flag(app, flags.must_fit,
                    "exits with 4 if a GPU of the largest cluster does not hold the training");
}

void stop_if_interrupted() {
  if (interrupted()) {
    throw Interrupted();
  }
}

// The folder of a study. What an error or Ctrl-C leaves unfinished goes again, unless it was there
// before.
class StudyFolder {
public:
  StudyFolder(std::string path, bool kept) : path_(std::move(path)) {
    if (kept) {
      require_parent(path_);
      is_new_ = fs::create_directories(path_);
    }
  }
  StudyFolder(const StudyFolder&) = delete;
  StudyFolder& operator=(const StudyFolder&) = delete;
  ~StudyFolder() {
    std::error_code ignored;
    for (const std::string& path : finished_ ? std::vector<std::string>() : new_files_) {
      fs::remove(path, ignored);
    }
    if (is_new_ && !finished_) {
      fs::remove(path_, ignored);
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string in(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  void write(const std::string& path, std::string_view text) {
    stop_if_interrupted();
    if (!fs::exists(path)) {
      new_files_.push_back(path);
    }
    io::write_file(path, text);
    std::erase(names_, fs::path(path).filename());
    names_.insert(names_.begin(), fs::path(path).filename());
  }
  // Keeps the files; returns "FOLDER/last.json, first.json".
  [[nodiscard]] std::string finish() {
    stop_if_interrupted();
    finished_ = true;
    return path_ + "/" + base::listed(names_);
  }

private:
  std::string path_;
  bool is_new_ = false, finished_ = false;
  std::vector<std::string> names_, new_files_;
};

// An imported trace stays where it is; files of the profiler are imported into the folder.
std::string trace_file(StudyFlags& flags, StudyFolder& folder, study::Files& files,
                       const Common& common) {
  const std::string& first = flags.import.files.front();
  const std::string head = study::is_shipped_name(first) ? "" : io::head_of(first);
  const bool imported =
      head.empty() || (!io::detect_format(head).format && content_kind(head) == "kind trace");
  if (imported && flags.import.files.size() == 1) {
    for (const std::string* flag :
         {&flags.import.batch_size, &flags.import.parameters, &flags.import.sizes,
          &flags.import.step_annotation, &flags.import.backward_ratio}) {
      if (!flag->empty()) {
        throw UsageError(first + " was imported: --batch-size, --parameters, --sizes, "
                                 "--step-annotation and --backward-ratio belong to stepsim import");
      }
    }
    return first;
  }
  refuse_other_format(first, "kineto");
  expect_reading(flags.import.files, common);
  io::KinetoImport job = kineto_job(flags.import, files, common);
  job.trace.name = io::stem_of(first);
  const std::string path = folder.in("kernels.json");
  folder.write(path, io::pretty(io::to_json(job.trace)));
  return path;
}

// What the folder holds beside the scenario and what it names, which the study saved.
void write_files(const study::TraceStudy& study, const io::Json& tree, StudyFolder& folder,
                 const Invocation& invocation) {
  const auto write = [&](const char* name, std::string_view text) {
    folder.write(folder.in(name), text);
  };
  write("study.json", io::pretty(tree));
  write("result.json", io::pretty(study::result_tree(study.largest)));
  if (study.buckets) {
    write("ddp.json", io::pretty(study.emitted));
  }
  write("steps.svg", plot::svg(step_curve(study)));
  write("report.html",
        study_page(study, "stepsim " + std::string(version()) + ": " + invocation.command_line));
}

} // namespace

int study_trace(const Invocation& invocation) {
  StudyFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kStudyText, invocation,
                "folder for the scenario, the points, the result and the page; default none is "
                "kept");
  const bool kept = common.output != "-";
  catch_interrupts();
  const ScratchFolder scratch;
  StudyFolder folder(kept ? common.output : scratch.path().string(), kept);
  common.output = "-";
  study::Files files(invocation.data_folder);
  if (study::is_shipped_name(flags.cluster) && !flags.cluster.empty()) {
    (void)of_flag("--cluster: ", [&] {
      return study::shipped_file(invocation.data_folder, study::kShippedNodes, flags.cluster);
    });
  }
  io::MeasurementOptions measured;
  measured.importer = "stepsim " + std::string(version());
  std::vector<std::int64_t> gpus = counts("--gpus", flags.gpus, io::at_least(1));
  std::ranges::sort(gpus);
  const study::TraceStudy study = study::trace_study(
      {.trace = trace_file(flags, folder, files, common),
       .node_type = flags.cluster,
       .network = flags.network,
       .gpus = std::move(gpus),
       .ideal = flags.ideal,
       .logs = flags.logs.empty() ? std::nullopt
                                  : std::optional(io::read_measurements(flags.logs, measured)),
       .folder = folder.path(),
       .save = [&folder](const std::string& path,
                         const io::Json& tree) { folder.write(path, io::pretty(tree)); },
       .progress =
           [count = counting(common)](std::int64_t done, std::int64_t total) {
             stop_if_interrupted();
             if (count) {
               count(done, total);
             }
           }},
      files);
  const io::Json tree = study::study_tree(study);
  if (kept) {
    write_files(study, tree, folder, invocation);
  }
  const std::string written = folder.finish();
  if (format_of(common, Format::table) == Format::json || !kept || !common.quiet) {
    const std::string files_line =
        kept ? "Written: " + written + "\n"
             : "-o FOLDER keeps the scenario, the result and a page of HTML.\n";
    write_document(common, {.text = [&] { return study_text(study) + files_line; },
                            .tree = [&] { return tree; },
                            .warnings = study.warnings});
  }
  return must_fit_code(flags.must_fit, study.largest.summary, common);
}

} // namespace stepsim::cli
