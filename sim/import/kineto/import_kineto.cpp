// File after file to ranks, ranks to one trace, then names, sources and options are added, so that
// the trace says how it was made.
#include "import/kineto/import_kineto.hpp"

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "files/import_source.hpp"
#include "import/kineto/kineto_read.hpp"
#include "import/kineto/kineto_sizes.hpp"
#include "import/kineto/kineto_trace.hpp"
#include "json/file.hpp"

namespace stepsim::io {

namespace {

// Before any file is read: files may take minutes.
void check_options(const std::vector<std::string>& files, const KinetoOptions& options) {
  if (files.empty()) {
    throw UsageError("import kineto: needs at least one file");
  }
  const auto positive = [](const char* flag, double value) {
    if (!(value > 0)) {
      throw UsageError(std::string(flag) + ": must be > 0, got " + base::shortest(value));
    }
  };
  if (options.batch_size) {
    positive("--batch-size", static_cast<double>(*options.batch_size));
  }
  if (options.measured_step) {
    positive("--measured-step", options.measured_step->value);
  }
  if (options.backward_ratio) {
    positive("--backward-ratio", *options.backward_ratio);
  }
  if (options.skip_steps < 0) {
    throw UsageError("--skip-steps: must be >= 0, got " + std::to_string(options.skip_steps));
  }
  if (options.model) {
    (void)table_named(options.models, *options.model);
  }
}

// What differs from the defaults, as the flags spell it.
std::vector<std::pair<std::string, std::string>> options_given(const KinetoOptions& options) {
  std::vector<std::pair<std::string, std::string>> given;
  if (options.backward_ratio) {
    given.emplace_back("backward_ratio", base::shortest(*options.backward_ratio));
  }
  if (options.batch_size) {
    given.emplace_back("batch_size", std::to_string(*options.batch_size));
  }
  if (options.measured_step) {
    given.emplace_back("measured_step_s", base::shortest(options.measured_step->value));
  }
  if (options.model) {
    given.emplace_back("model", *options.model);
  }
  if (options.skip_steps != KinetoOptions().skip_steps) {
    given.emplace_back("skip_steps", std::to_string(options.skip_steps));
  }
  if (options.step_annotation) {
    given.emplace_back("step_annotation", *options.step_annotation);
  }
  if (options.time == TimeBasis::wall) {
    given.emplace_back("time", "wall");
  }
  return given;
}

} // namespace

train::Trace import_kineto(const std::vector<std::string>& files, const KinetoOptions& options,
                           std::vector<std::string>* remarks) {
  check_options(files, options);
  train::Source source = make_source("kineto", options.common);
  source.options = options_given(options);
  std::vector<KinetoRank> ranks;
  for (const std::string& file : files) {
    ByteSource bytes(file, options.common.max_bytes, true);
    // One recording at a time is in memory; what is kept of it is a few numbers per layer and step.
    const KinetoRecording recording = read_kineto([&] { return bytes.next(); }, bytes.name());
    source.files.push_back(source_file(file, bytes.file_bytes(), bytes.digest()));
    ranks.push_back(reduce_rank(recording, options.step_annotation, options.skip_steps));
  }
  train::Trace trace = trace_of_ranks(ranks, options, remarks);
  trace.name = result_name(options.common, files.front());
  trace.source = std::move(source);
  return trace;
}

} // namespace stepsim::io
