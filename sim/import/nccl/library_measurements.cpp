// A file that cannot be read does not end the reading of a folder, in which anything may lie. What
// it lacked is kept, and becomes the error if no file has a row.
#include "import/nccl/library_measurements.hpp"

#include <filesystem>
#include <iterator>
#include <tuple>

#include "document/csv.hpp"
#include "import/import_detect.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "layers/gpu_table.hpp"

namespace stepsim::io {

using nccl::MeasuredPoint;
using nccl::Operation;
using nccl::Shape;

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kTableColumns{"system",        "op",    "nodes",
                                                        "gpus_per_node", "bytes", "time_us"};
constexpr double kLeastBytesPerRank = 4;
constexpr std::int64_t kMostMachines = 1 << 20;
constexpr std::size_t kFewestPoints = 6;
constexpr double kSpike = 1.5;
constexpr double kMebibyte = 1024.0 * 1024;

// Everything that was read so far.
struct Reading {
  const MeasurementOptions& options;
  LibraryMeasurements result{};
  std::map<std::tuple<Operation, std::uint32_t, std::uint32_t, double>, std::vector<double>>
      times{};
  std::vector<base::Problem> lacking{};
  std::size_t alone = 0; // times of one rank, left out

  void add(Operation operation, Shape shape, double bytes, double seconds) {
    const bool gathers =
        operation == Operation::allgather || operation == Operation::reduce_scatter;
    const double ranks = static_cast<double>(shape.nodes) * shape.gpus;
    if (options.operation && *options.operation != operation) {
      return;
    }
    if (ranks < 2) {
      ++alone;
      return;
    }
    if (!(bytes > 0) || !measured_times().contains(seconds) ||
        (gathers && bytes < kLeastBytesPerRank * ranks)) {
      ++result.skipped;
      return;
    }
    times[{operation, shape.nodes, shape.gpus, bytes}].push_back(seconds);
  }

  // Adds what was read from one more file.
  void add(Reading&& other) {
    result.skipped += other.result.skipped;
    alone += other.alone;
    std::ranges::move(other.result.warnings, std::back_inserter(result.warnings));
    result.sources.merge(other.result.sources);
    for (auto& [key, seconds] : other.times) {
      std::ranges::copy(seconds, std::back_inserter(times[key]));
    }
  }
};

// The first row that is no comment has the columns.
bool looks_like_table(std::string_view text) {
  for (const TextLine& line : lines_of(text)) {
    const std::string_view words = trimmed(line.text);
    if (!words.empty() && !words.starts_with('#')) {
      return std::ranges::all_of(
          kTableColumns, [&](auto column) { return words.find(column) != std::string_view::npos; });
    }
  }
  return false;
}

std::array<std::size_t, kTableColumns.size()> places_of(const CsvRow& header,
                                                        const std::string& file) {
  std::array<std::size_t, kTableColumns.size()> places{};
  for (std::size_t i = 0; i < kTableColumns.size(); ++i) {
    const auto found = std::ranges::find(header.fields, kTableColumns[i]);
    if (found == header.fields.end()) {
      throw InputError(file, std::to_string(header.line),
                       "no column " + std::string(kTableColumns[i]));
    }
    places[i] = static_cast<std::size_t>(found - header.fields.begin());
  }
  return places;
}

// A number of machines or GPUs; 0 where the text is none.
std::uint32_t machine_count(const std::string& text) {
  const auto value = parse_whole(text);
  return value && *value > 0 && *value <= kMostMachines ? static_cast<std::uint32_t>(*value) : 0;
}

void read_table(std::string_view text, const std::string& file, Reading& reading) {
  std::set<std::string> systems; // of this table
  const std::vector<CsvRow> rows = parse_csv(text, file);
  const auto places = places_of(rows.front(), file);
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    if (row.fields.size() != rows.front().fields.size()) {
      throw InputError(file, std::to_string(row.line),
                       "expected " + std::to_string(rows.front().fields.size()) + " fields, got " +
                           std::to_string(row.fields.size()));
    }
    const auto field = [&](std::size_t column) { return row.fields[places[column]]; };
    if (reading.options.system && *reading.options.system != field(0)) {
      continue;
    }
    systems.insert(field(0));
    const auto operation = nccl::kOperations.find(field(1));
    const Shape shape{machine_count(field(2)), machine_count(field(3))};
    if (!operation || shape.nodes == 0 || shape.gpus == 0) {
      ++reading.result.skipped;
      continue;
    }
    reading.add(*operation, shape, parse_real(field(4)).value_or(0),
                parse_scaled(field(5), -6).value_or(0));
  }
  if (systems.size() > 1) {
    const std::vector<std::string_view> names(systems.begin(), systems.end());
    throw InputError(file, "",
                     "several systems: stepsim-calibrate fit-library --system takes one of " +
                         base::joined(names));
  }
  reading.result.sources.merge(systems);
}

// Whether the set has a shape; the option stands in where a log lists no devices.
std::optional<Shape> shape_of(const SampleSet& set, const MeasurementOptions& options) {
  if (set.gpus_per_node) {
    return Shape{static_cast<std::uint32_t>(set.ranks / *set.gpus_per_node),
                 static_cast<std::uint32_t>(*set.gpus_per_node)};
  }
  return options.shape;
}

void add_samples(const Samples& samples, Reading& reading) {
  for (const std::string& warning : samples.warnings) {
    reading.result.warnings.push_back(samples.file + ": " + warning);
  }
  for (const SampleSet& set : samples.sets) {
    const auto operation = nccl::kOperations.find(set.op);
    const auto shape = shape_of(set, reading.options);
    if (!operation || !shape) {
      reading.result.warnings.push_back(
          samples.file + ": " + set.op + ": " +
          (operation ? "the number of GPUs per node is not known or not the same on every node; "
                       "block left out"
                     : "not an operation of the library; block left out"));
      reading.result.skipped += set.samples.size();
      continue;
    }
    if (!set.device.empty()) {
      reading.result.sources.insert(set.device);
    }
    for (const Sample& sample : set.samples) {
      reading.add(*operation, *shape, sample.bytes, sample.time_s);
    }
  }
}

void read_file(const std::string& path, Reading& reading) {
  const std::string text = read_text(path);
  const MeasurementOptions& options = reading.options;
  if (looks_like_table(text)) {
    read_table(text, path, reading);
    return;
  }
  if (options.other) {
    if (const std::optional<Samples> samples = options.other(text, path)) {
      add_samples(*samples, reading);
      return;
    }
  }
  if (looks_like_samples(text)) {
    add_samples(read_samples(path, options.importer), reading);
    return;
  }
  if (detect_format(text).format != ImportFormat::nccl_tests) {
    throw InputError(path, "", "neither a log of nccl-tests nor a table of measurements");
  }
  NcclTestsOptions nccl;
  nccl.common.importer = options.importer;
  nccl.skip_bad_times = true;
  if (options.operation) {
    nccl.op = nccl::kOperations[*options.operation];
  }
  if (options.shape) {
    nccl.ranks = static_cast<std::int64_t>(options.shape->nodes) * options.shape->gpus;
  }
  const Samples samples = import_nccl_tests(path, nccl);
  reading.result.skipped += samples.skipped;
  add_samples(samples, reading);
}

// The files of a folder and of those below it, by path; a file itself.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  for (auto entry = fs::recursive_directory_iterator(path, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file()) {
      files.push_back(entry->path().string());
    }
  }
  if (error) {
    throw InputError(path, "", "cannot read the folder: " + error.message());
  }
  std::ranges::sort(files);
  return files;
}

// Shares of the preset's nominal rates, where the measurements determine the rate. More than the
// nominal rate is an error of the data sheet or of the fit, and no share.
std::vector<SourcedNumber> nominal_shares(const NodePreset& preset, const nccl::LibraryFit& fit,
                                          const nccl::Calibration& calibration) {
  std::vector<SourcedNumber> shares;
  const auto add = [&](const char* key, std::optional<double> nominal, double rate,
                       nccl::Parameter parameter) {
    const auto i = static_cast<std::size_t>(parameter);
    if (!nominal || fit.from_prior[i]) {
      return;
    }
    const base::Interval factor = parameter_interval(calibration, parameter);
    const double value =
        rate * nccl::factor(parameter, calibration.fitted.parameters[i]) / *nominal;
    if (value <= 1) {
      shares.push_back({.key = key,
                        .value = value,
                        .low = std::min(value, rate * factor.low / *nominal),
                        .high = std::clamp(rate * factor.high / *nominal, value, 1.0),
                        .label = "fitted",
                        .source = calibration.fitted.name});
    }
  };
  add("link", preset.link_nominal_Bps, preset.node.ring_Bps, nccl::Parameter::bw_nvl);
  add("nic", preset.nic_nominal_Bps, preset.node.nic_Bps, nccl::Parameter::bw_nic);
  return shares;
}

// Missing shapes and sizes, and points that are slower than 1.5 times both neighbours in size
// (CLU 8.2).
std::vector<std::string> library_warnings(const nccl::LibraryFit& fit) {
  const std::vector<MeasuredPoint>& points = fit.fitted.points;
  std::vector<std::string> warnings;
  if (std::ranges::none_of(points, [&](const MeasuredPoint& point) {
        return point.shape.nodes > 1 && point.shape.gpus == fit.fitted.node.gpus;
      })) {
    warnings.push_back("no log of several nodes with all of their GPUs: bw_mix and rail are those "
                       "of the prior, and predictions for such shapes can be off by a third");
  }
  const double least =
      points.empty() ? 0 : std::ranges::min(points, {}, &MeasuredPoint::bytes).bytes;
  if (least >= kMebibyte) {
    warnings.push_back("no measurement below " + base::readable_bytes(least) +
                       ": latencies are those of the prior, and times of small messages can be off "
                       "by a factor of two");
  }
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const auto same = [&](const MeasuredPoint& other) {
      return other.operation == points[i].operation && other.shape == points[i].shape;
    };
    if (same(points[i - 1]) && same(points[i + 1]) &&
        points[i].measured_s >
            kSpike * std::max(points[i - 1].measured_s, points[i + 1].measured_s)) {
      warnings.push_back(std::string(nccl::kOperations[points[i].operation]) + " " +
                         nccl::text(points[i].shape) + " " + base::readable_bytes(points[i].bytes) +
                         ": slower than 1.5 times the sizes beside it");
    }
  }
  return warnings;
}

} // namespace

LibraryMeasurements read_measurements(const std::vector<std::string>& paths,
                                      const MeasurementOptions& options) {
  Reading reading{.options = options};
  for (const std::string& path : paths) {
    const std::vector<std::string> files = files_of(path);
    const bool folder = files.size() != 1 || files.front() != path;
    for (const std::string& file : files) {
      try {
        Reading one{.options = options};
        read_file(file, one);
        reading.add(std::move(one));
      } catch (const InputError& error) {
        if (!folder) {
          throw;
        }
        reading.lacking.insert(reading.lacking.end(), error.problems().begin(),
                               error.problems().end());
      }
    }
  }
  if (reading.times.empty()) {
    if (reading.lacking.empty()) {
      reading.lacking.push_back(
          {paths.front(), "", reading.alone > 0 ? kOneRank : "no rows of measured times"});
    }
    throw InputError(reading.lacking);
  }
  if (reading.result.sources.size() > 1 && !options.several_devices) {
    std::vector<std::string_view> names(reading.result.sources.begin(),
                                        reading.result.sources.end());
    throw InputError(paths.front(), "",
                     "measurements of several systems (" + base::joined(names) +
                         "); stepsim-calibrate fit-library --force takes them together");
  }
  for (const auto& [key, seconds] : reading.times) {
    const auto& [operation, nodes, gpus, bytes] = key;
    reading.result.points.push_back({.operation = operation,
                                     .shape = {nodes, gpus},
                                     .bytes = bytes,
                                     .measured_s = base::median(seconds),
                                     .count = seconds.size()});
  }
  reading.result.first_file = paths.front();
  if (reading.alone > 0) {
    reading.result.warnings.push_back(
        fmt::format("{} times of one rank were left out: {}", reading.alone, kOneRank));
  }
  if (reading.result.skipped > 0) {
    reading.result.warnings.push_back(fmt::format(
        "{} rows without a usable operation, size or time were left out", reading.result.skipped));
  }
  return std::move(reading.result);
}

FittedMeasurements fit_measurements(const LibraryMeasurements& measured, const NodePreset& preset,
                                    const std::string& name, nccl::Version version) {
  if (measured.points.size() < kFewestPoints) {
    throw InputError(measured.first_file, "",
                     "a fit needs at least " + std::to_string(kFewestPoints) + " points, got " +
                         std::to_string(measured.points.size()));
  }
  for (const MeasuredPoint& point : measured.points) {
    try {
      (void)nccl::layout_of(preset.node, point.shape);
    } catch (const UsageError& error) {
      throw InputError(measured.first_file, "", error.what());
    }
  }
  FittedMeasurements result;
  result.fit = nccl::fit_library(preset.node, measured.points, version);
  result.fit.fitted.name = name;
  result.calibration = nccl::calibration_of(result.fit.fitted);
  result.file = {.fitted = result.calibration.fitted,
                 .from_prior = result.fit.from_prior,
                 .of_nominal = nominal_shares(preset, result.fit, result.calibration),
                 .sources = {measured.sources.begin(), measured.sources.end()},
                 .warnings = library_warnings(result.fit)};
  for (const std::string& source : measured.sources) { // GPUs, and systems of any name
    const bool is_gpu = std::ranges::any_of(layers::gpus(), [&](const layers::Gpu& gpu) {
      return !layers::part_name(source).part.empty() && layers::may_be_same_gpu(source, gpu.name);
    });
    if (is_gpu && !layers::may_be_same_gpu(source, preset.gpu)) {
      result.file.warnings.push_back("the measured times are those of " + source + ", but " +
                                     preset.node.name + " has " + preset.gpu);
    }
  }
  return result;
}

} // namespace stepsim::io
