// Summaries name what a user can check against the tool that measured: numbers of layers, sums of
// times, sizes.
#include "cli/commands/imported.hpp"

#include <filesystem>
#include <system_error>

#include "base/printable.hpp"
#include "cli/shell/output.hpp"
#include "document/kind_use.hpp"
#include "import/import_detect.hpp"
#include "scenario/files/model_file.hpp"
#include "scenario/files/trace_file.hpp"

namespace stepsim::cli {

namespace {

std::string milliseconds(double seconds) { return base::significant(seconds * 1e3) + " ms"; }

} // namespace

// Sums over the layers, with unknown times and sizes as 0. Update and framework time are one number
// here, as a scenario takes them.
Imported imported_trace(const layers::Trace& trace) {
  double forward = 0;
  double backward = 0;
  double bytes = 0;
  std::size_t tensors = 0;
  for (const layers::Layer& layer : trace.layers) {
    forward += layer.forward.value_or(Seconds{0}).value;
    backward += layer.backward.value_or(Seconds{0}).value;
    bytes += static_cast<double>(layer.gradient_bytes.value_or(Bytes{0}).value);
    tensors += layer.tensors.size();
  }
  std::string text = base::printable(trace.name) + ": " + std::to_string(trace.layers.size()) +
                     " layers, " + std::to_string(tensors) + " gradient tensors, " +
                     base::readable_bytes(bytes) + ", " +
                     std::string(layers::kProvenances[trace.provenance]) + "\n";
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
  std::vector<std::string> warnings = trace.warnings;
  if (bytes == 0) {
    const bool known = std::ranges::all_of(
        trace.layers, [](const layers::Layer& layer) { return layer.gradient_bytes.has_value(); });
    warnings.emplace_back(known ? "no layer has a gradient: run sends nothing"
                                : "run refuses this trace: it has no gradient sizes");
  }
  return {io::to_json(trace), text, warnings};
}

Imported imported_model(const layers::ModelTable& table) {
  const std::int64_t active = table.active_elements();
  std::string text = base::printable(table.name) + ": " + std::to_string(table.elements()) +
                     " parameters in " + std::to_string(table.tensors()) + " tensors of " +
                     std::to_string(table.layers.size()) + " layers";
  if (active != table.elements()) {
    text += ", " + std::to_string(active) + " of them active per token";
  }
  return {io::to_json(table), text + "\n", table.warnings};
}

// A cost file has one operation and one number of ranks.
Imported imported_cost(const io::OsuLog& log) {
  const io::CostPoints cost = io::cost_of(log);
  return {io::to_json(cost),
          base::printable(cost.name) + ": " + cost.op + " with " +
              base::counted(cost.ranks, "rank") + ", " + std::to_string(cost.table.size()) +
              " sizes, " + base::readable_bytes(cost.table.front().first) + " to " +
              base::readable_bytes(cost.table.back().first) + "\n",
          {}};
}

// One line per set, which is what `fit` will call a group.
Imported imported_samples(const io::Samples& samples) {
  std::string text;
  for (const io::SampleSet& set : samples.sets) {
    text += base::printable(samples.name) + ": " + base::printable(set.op) + " with " +
            base::counted(set.ranks, "rank") + ", " +
            (set.column.empty() ? "" : set.column + ", ") + std::to_string(set.samples.size()) +
            " times\n";
  }
  return {io::to_json(samples), text, samples.warnings, "", io::to_csv(samples)};
}

void refuse_other_format(const std::string& file, std::string_view format) {
  const std::string head = file == "-" ? "" : io::head_of(file);
  if (head.empty()) {
    return;
  }
  const auto detected = io::detect_format(head);
  const bool is_trace = detected.format == io::ImportFormat::kineto;
  const bool wants_trace = format == io::kImportFormats[io::ImportFormat::kineto];
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && (head[begin] == '{' || head[begin] == '[');
  // What only one format has, and no other can be taken for.
  const bool unmistakable = is_trace || detected.format == io::ImportFormat::chakra ||
                            detected.format == io::ImportFormat::pytorch_et ||
                            detected.format == io::ImportFormat::astra_text;
  const bool other = detected.format && format != io::kImportFormats[*detected.format];
  if (other && (unmistakable || (wants_trace && !is_json))) {
    throw InputError(file, "", io::import_first(*detected.format));
  }
  // Formats whose readers know more: XML, and protocol buffers, which are binary.
  const bool is_xml = begin != std::string::npos && head[begin] == '<';
  const bool reader_knows = is_xml || format == io::kImportFormats[io::ImportFormat::chakra];
  if (!detected.format && !is_json && !detected.advice.empty() && (wants_trace || !reader_knows)) {
    throw InputError(file, "", detected.advice);
  }
  const std::string kind = content_kind(head); // "kind study"
  const io::KindUse* use = kind.starts_with("kind ") ? io::use_of_kind(kind.substr(5)) : nullptr;
  if (wants_trace && use != nullptr) {
    throw InputError(file, "/kind", use->text());
  }
  if (wants_trace && !detected.format && !is_json) {
    throw InputError(file, "", "not JSON: a trace of the PyTorch profiler is JSON, .gz or not");
  }
}

namespace {

// Bytes of the files, 0 where one of them is no file whose size is known.
std::uintmax_t total_bytes(const std::vector<std::string>& files) {
  std::uintmax_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error) {
      return 0;
    }
    sum += size;
  }
  return sum;
}

} // namespace

void expect_reading(const std::vector<std::string>& files, const Common& common) {
  constexpr double kBytesPerSecond = 3e7;
  common.work.estimate(static_cast<double>(total_bytes(files)) / kBytesPerSecond);
}

std::function<void(std::uint64_t)> counting_bytes(const std::vector<std::string>& files,
                                                  const Common& common) {
  constexpr std::uintmax_t kCounted = 1'000'000;
  const std::uintmax_t total = total_bytes(files);
  if (total < kCounted) {
    return {};
  }
  common.work.count(static_cast<std::int64_t>(total / kCounted), 0, "MB");
  return [&common](std::uint64_t bytes) {
    common.work.update(static_cast<std::int64_t>(bytes / kCounted));
  };
}

} // namespace stepsim::cli
