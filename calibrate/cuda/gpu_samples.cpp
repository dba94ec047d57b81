// The records of gpu_bench are read line by line. Each record stands for itself, so that a last
// line which was cut off by an interruption is left out with a warning, and all others are used.
#include "calibrate/cuda/gpu_samples.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "document/json_parse.hpp"
#include "document/reader.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr double kMostRanks = 1 << 20;

// Times above 0; others are problems of the record. An empty list is allowed: a sample that the
// clock could not resolve was left out when it was written.
std::vector<double> times(io::Fields& fields) {
  std::vector<double> seconds;
  for (const io::Json& each : fields.array("time_s", true)) {
    if (const auto value = io::checked_number(each, io::above(0), fields.problems())) {
      seconds.push_back(*value);
    }
  }
  return seconds;
}

// What all records have.
void skip_common(io::Fields& fields) {
  (void)fields.string("record");
  (void)fields.string("where", "");
}

// The header has keys that are for people and are not read; the keys of records are all known, and
// an unknown one is an error.
void read_header(const io::Json& json, GpuSamples& samples) {
  io::Problems problems;
  io::Fields fields(json, problems);
  fields.header("gpu_samples", true);
  samples.same_device = fields.string("where", "") == kSameDevice;
  samples.ranks = fields.integer("ranks", io::between(1, kMostRanks));
  if (fields.has("driver")) {
    samples.driver = fields.string("driver");
  }
  for (const io::Json& each : fields.array("hosts", false)) {
    if (const auto host = io::checked_number(each, io::between(0, kMostRanks), fields.problems())) {
      samples.hosts.push_back(static_cast<std::uint32_t>(*host));
    }
  }
  if (!samples.hosts.empty() && samples.hosts.size() != static_cast<std::size_t>(samples.ranks)) {
    throw InputError("", "/hosts", "must have one number per rank");
  }
  if (const io::Json* access = fields.any("peer_access")) {
    samples.peer_access = *access;
  }
  const auto devices = fields.array("devices", true);
  samples.devices = static_cast<std::int64_t>(devices.size());
  if (!devices.empty()) {
    io::Fields device(devices.front(), problems);
    samples.device = device.string("name");
    if (const io::Json* before = device.any("before"); before != nullptr && before->is_object()) {
      samples.sm_clock_hz =
          io::Fields(*before, problems).optional_number("sm_clock_Hz", io::above(0));
    }
  }
  problems.throw_if_any();
}

CollectiveRecord read_collective(const io::Json& json) {
  io::Problems problems;
  io::Fields fields(json, problems);
  skip_common(fields);
  CollectiveRecord record;
  record.op = fields.string("op");
  record.algorithm = fields.string("algorithm");
  record.variant = fields.string("variant");
  record.launch = fields.string("launch");
  record.ranks = static_cast<std::uint32_t>(fields.integer("ranks", io::between(1, kMostRanks)));
  record.bytes = fields.integer("bytes", io::at_least(0));
  record.block_bytes = fields.integer("block_bytes", io::at_least(0), 0);
  record.sets = static_cast<std::uint32_t>(fields.integer("sets", io::between(1, kMostRanks), 1));
  record.cache = fields.string("cache", "");
  record.pass = static_cast<int>(fields.integer("pass", io::between(0, 1000)));
  record.repeats = static_cast<int>(fields.integer("repeats", io::between(1, 1e9)));
  record.time_s = times(fields);
  fields.no_more();
  problems.throw_if_any();
  return record;
}

KernelRecord read_kernel(const io::Json& json) {
  io::Problems problems;
  io::Fields fields(json, problems);
  skip_common(fields);
  KernelRecord record;
  record.kernel = fields.string("kernel");
  record.distribution = fields.string("distribution");
  record.n = fields.integer("n", io::at_least(1));
  record.k = fields.integer("k", io::at_least(0));
  record.achieved_k = fields.integer("achieved_k", io::at_least(0));
  record.mass_kept = fields.optional_number("mass_kept", io::between(0, 2));
  record.lost = fields.integer("lost", io::at_least(0), 0);
  record.cache = fields.string("cache", "");
  record.pass = static_cast<int>(fields.integer("pass", io::between(0, 1000)));
  record.repeats = static_cast<int>(fields.integer("repeats", io::between(1, 1e9)));
  record.time_s = times(fields);
  fields.no_more();
  problems.throw_if_any();
  return record;
}

PairRecord read_pair(const io::Json& json) {
  io::Problems problems;
  io::Fields fields(json, problems);
  skip_common(fields);
  PairRecord record;
  record.kind = fields.string("kind");
  record.variant = fields.string("variant");
  record.launch = fields.string("launch");
  record.src = static_cast<std::uint32_t>(fields.integer("src", io::between(0, kMostRanks)));
  record.dst = static_cast<std::uint32_t>(fields.integer("dst", io::between(0, kMostRanks)));
  record.bytes = fields.integer("bytes", io::at_least(1));
  record.pass = static_cast<int>(fields.integer("pass", io::between(0, 1000)));
  record.repeats = static_cast<int>(fields.integer("repeats", io::between(1, 1e9)));
  record.time_s = times(fields);
  fields.no_more();
  problems.throw_if_any();
  return record;
}

std::string text_at(const io::Json& json, std::string_view key) {
  const io::Json* text = json.find(key);
  return text != nullptr && text->is_string() ? text->as_string() : "";
}

// Notes, ways that cannot be used, and an early end become warnings of the calibration. The number
// of verified cases and the state of the devices at the end are for people and are skipped.
void read_record(const io::Json& json, GpuSamples& samples) {
  const io::Json* kind = json.find("record");
  const std::string word = kind != nullptr && kind->is_string() ? kind->as_string() : "";
  if (word == "collective") {
    samples.collectives.push_back(read_collective(json));
  } else if (word == "kernel") {
    samples.kernels.push_back(read_kernel(json));
  } else if (word == "pair") {
    samples.pairs.push_back(read_pair(json));
  } else if (word == "note") {
    samples.warnings.push_back(text_at(json, "text"));
  } else if (word == "unusable") {
    samples.warnings.push_back(text_at(json, "variant") + " " + text_at(json, "launch") +
                               " cannot be used: " + text_at(json, "reason"));
  } else if (word == "end") {
    if (const std::string early = text_at(json, "early"); !early.empty()) {
      samples.warnings.push_back("the measurement ended early: " + early);
    }
  } else if (word != "verified") {
    throw InputError("", "/record",
                     "must be collective, kernel, pair, verified, unusable, note or end");
  }
}

// GPUs per host; empty where hosts have different numbers of ranks.
std::optional<std::int64_t> gpus_per_host(const GpuSamples& samples) {
  if (samples.hosts.empty()) {
    return samples.ranks; // one process, one host
  }
  std::map<std::uint32_t, std::int64_t> ranks;
  for (const std::uint32_t host : samples.hosts) {
    ++ranks[host];
  }
  const bool equal = std::ranges::all_of(
      ranks, [&](const auto& each) { return each.second == ranks.begin()->second; });
  return equal ? std::optional(ranks.begin()->second) : std::nullopt;
}

} // namespace

io::Samples nccl_samples(const GpuSamples& samples) {
  io::Samples out;
  out.file = samples.file;
  out.source = samples.source;
  std::map<std::string, io::SampleSet> sets;
  for (const CollectiveRecord& record : samples.collectives) {
    if (record.variant != "nccl") {
      continue;
    }
    io::SampleSet& set = sets[record.op];
    set.op = record.op;
    set.ranks = record.ranks;
    set.device = samples.device;
    set.dtype = "float";
    set.gpus_per_node = gpus_per_host(samples);
    for (const double each : record.time_s) {
      set.samples.push_back({static_cast<double>(record.bytes), each, record.pass});
    }
  }
  for (auto& [op, set] : sets) {
    out.sets.push_back(std::move(set));
  }
  return out;
}

bool looks_like_gpu_samples(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.starts_with('{') && first.find("\"gpu_samples\"") != std::string_view::npos;
}

GpuSamples parse_gpu_samples(std::string_view text, const std::string& file) {
  GpuSamples samples;
  samples.file = file;
  const std::vector<io::TextLine> lines = io::lines_of(text);
  bool headed = false;
  for (const io::TextLine& line : lines) {
    if (line.text.empty()) {
      continue;
    }
    const bool cut_off = &line == &lines.back() && !text.ends_with('\n');
    try {
      const io::Json json = io::parse_json(line.text, file);
      headed ? read_record(json, samples) : read_header(json, samples);
      headed = true;
    } catch (const InputError& error) {
      if (cut_off && headed) {
        samples.warnings.push_back("the last line is cut off: left out");
        continue;
      }
      std::vector<base::Problem> problems;
      for (const base::Problem& problem : error.problems()) {
        const bool pointer = problem.where.starts_with('/');
        problems.push_back({file, std::to_string(line.number),
                            (pointer ? problem.where.substr(1) + " " : "") + problem.message});
      }
      throw InputError(std::move(problems));
    }
  }
  if (!headed) {
    throw InputError(file, "", "empty");
  }
  return samples;
}

GpuSamples read_gpu_samples(const std::string& path, const std::string& importer) {
  const io::ImportedText input = io::read_import(path, kMostBytes);
  GpuSamples samples = parse_gpu_samples(input.text, input.name);
  samples.source.format = "gpu_samples";
  samples.source.files = {input.file};
  samples.source.importer = importer;
  return samples;
}

} // namespace stepsim::calibrate::gpu
