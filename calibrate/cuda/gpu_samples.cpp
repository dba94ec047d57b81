// The records of gpu_bench are read line by line. Each record stands for itself, so that a last
// line which was cut off by an interruption is left out with a warning, and all others are used.
#include "calibrate/cuda/gpu_fit.hpp"

#include "calibrate/core/error_table.hpp"
#include "calibrate/cuda/nccl_calls.hpp"
#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr double kMostRanks = 1 << 20;

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

// The keys of a record are all known. Of times an empty list is allowed: a sample that the clock
// could not resolve was left out when it was written.
class RecordReader {
public:
  RecordReader(const io::Json& json, io::Problems& problems) : fields(json, problems) {
    (void)fields.string("record");
    (void)fields.string("where", "");
  }
  void get(std::string_view key, std::string& to, Need need = Need::always) {
    to = need == Need::always ? fields.string(key) : fields.string(key, to);
  }
  template <std::integral Number>
  void get(std::string_view key, Number& to, double least = 0, Need need = Need::always) {
    constexpr auto kMost = static_cast<double>(std::numeric_limits<Number>::max());
    const io::Range range = sizeof(Number) > 4 ? io::at_least(least) : io::between(least, kMost);
    to = static_cast<Number>(need == Need::always ? fields.integer(key, range)
                                                  : fields.integer(key, range, to));
  }
  void get(std::string_view key, std::optional<double>& to) {
    to = fields.optional_number(key, io::between(0, 2));
  }
  void get(std::string_view key, std::vector<double>& to) {
    for (const io::Json& each : fields.array(key, true)) {
      if (const auto value = io::checked_number(each, io::above(0), fields.problems())) {
        to.push_back(*value);
      }
    }
  }

  io::Fields fields;
};

template <class Record> Record read_keys(const io::Json& json) {
  io::Problems problems;
  RecordReader reader(json, problems);
  Record record;
  Record::keys(record,
               [&](std::string_view key, auto& to, auto... how) { reader.get(key, to, how...); });
  reader.fields.no_more();
  problems.throw_if_any();
  return record;
}

// Notes, ways that cannot be used, and an early end become warnings of the calibration. The number
// of verified cases and the state of the devices at the end are for people and are skipped.
void read_record(const io::Json& json, GpuSamples& samples) {
  const std::string word = json.text("record");
  if (word == CollectiveRecord::kWord) {
    samples.collectives.push_back(read_keys<CollectiveRecord>(json));
  } else if (word == KernelRecord::kWord) {
    samples.kernels.push_back(read_keys<KernelRecord>(json));
  } else if (word == PairRecord::kWord) {
    samples.pairs.push_back(read_keys<PairRecord>(json));
  } else if (word == OverlapRecord::kWord) {
    samples.overlaps.push_back(read_keys<OverlapRecord>(json));
  } else if (word == "note") {
    samples.warnings.push_back(json.text("text"));
  } else if (word == "unusable") {
    samples.warnings.push_back(json.text("variant") + " " + json.text("launch") +
                               " cannot be used: " + json.text("reason"));
  } else if (word == "end") {
    if (const std::string early = json.text("early"); !early.empty()) {
      samples.warnings.push_back("the measurement ended early: " + early);
    }
  } else if (word != "verified") {
    throw InputError("", "/record",
                     "must be collective, kernel, pair, overlap, verified, unusable, note or end");
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

void add_times(const GpuSamples& samples, const CollectiveRecord& record, io::SampleSet& set) {
  set.op = record.op;
  set.ranks = record.ranks;
  set.device = samples.device;
  set.dtype = record.dtype;
  for (const double each : record.time_s) {
    set.samples.push_back({static_cast<double>(record.bytes), each, record.pass});
  }
}

io::Samples nccl_samples(const GpuSamples& samples) {
  io::Samples out;
  out.file = samples.file;
  out.source = samples.source;
  std::map<std::string, io::SampleSet> sets;
  for (const CollectiveRecord& record : samples.collectives) {
    if (record.variant != "nccl" || record.dtype != kNcclFloat.name) {
      continue;
    }
    io::SampleSet& set = sets[record.op];
    add_times(samples, record, set);
    set.gpus_per_node = gpus_per_host(samples);
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
      name_line(error, file, line.number);
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
