// Files are read line by line and only a few numbers of a line are kept, since the log of a long
// job is large. A sequence number that a rank logs again, as replays of a CUDA graph do, is the
// next repetition of the collective.
#include "import/nccl/import_nccl_inspector.hpp"

#include <tuple>

#include "document/json_text.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::io {

namespace {

constexpr ParseLimits kLineLimits{
    .max_bytes = 1 << 20, .max_depth = 32, .max_string = 1 << 16, .max_values = 100'000};

// `of_one_rank`: the log has the bytes of one rank's part.
struct OperationRow {
  std::string_view logged, op;
  bool of_one_rank = false;
};
constexpr std::array kLoggedOperations{
    OperationRow{"AllReduce", "allreduce"},
    OperationRow{"AllGather", "allgather", true},
    OperationRow{"Broadcast", "broadcast"},
    OperationRow{"Reduce", "reduce"},
    OperationRow{"AllToAll", "alltoall", true},
    OperationRow{"AlltoAll", "alltoall", true},
    OperationRow{"ReduceScatter", "reduce_scatter", true},
};

// From the clock of the GPU to that of the host around the whole call: the earlier, the better.
constexpr std::array<std::string_view, 3> kTimingSources{"kernel_gpu", "kernel_cpu",
                                                         "collective_cpu"};

// The part of a line that samples are made of.
struct CollectiveLine {
  std::string communicator, operation, timing;
  std::int64_t rank{}, ranks{}, nodes{}, number{}, bytes{};
  double time_us{};
  std::optional<double> rate_GBps; // bytes over time, as logged
};

// One collective: what its lines agree on, and the best of their times.
struct Collective {
  const OperationRow* operation = nullptr;
  std::int64_t ranks{}, nodes{};
  std::int64_t bytes{}; // as logged
  std::int64_t lines = 0;
  std::size_t timing{}; // index in kTimingSources; their number if unknown
  double time_us{};
};

// Of all ranks, as samples have it.
double bytes_of_all(const Collective& collective) {
  return static_cast<double>(collective.bytes) *
         static_cast<double>(collective.operation->of_one_rank ? collective.ranks : 1);
}

// All repetitions of a collective, and how often each rank has logged it.
struct Repetitions {
  std::vector<Collective> all;
  std::map<std::int64_t, std::size_t> lines_of_rank;
};

class InspectorReader {
public:
  explicit InspectorReader(const ImportOptions& options) : options_(options) {}

  void read(const std::string& path, layers::Source& source) {
    LineReader lines(path, options_.max_bytes);
    file_ = lines.name();
    TextLine line;
    header_.reset();
    while (lines.next(line)) {
      line_ = line.number;
      if (!trimmed(line.text).empty()) {
        read_line(line.text);
      }
    }
    const layers::SourceFile content = lines.file(path);
    const auto same = std::ranges::find(source.files, content.sha256, &layers::SourceFile::sha256);
    if (same != source.files.end()) {
      throw InputError(file_, "", "the same content as " + same->name + ": give each file once");
    }
    source.files.push_back(content);
  }

  Samples samples(const std::string& name) {
    if (collectives_.empty()) {
      throw InputError(file_, "", "no line has a coll_perf of an operation that is known");
    }
    Samples result;
    result.file = file_;
    result.name = name;
    // By operation, ranks and nodes; the best timing source of each counts.
    std::map<std::tuple<std::string_view, std::int64_t, std::int64_t>,
             std::vector<const Collective*>>
        groups;
    std::int64_t partly = 0;
    std::int64_t all = 0;
    for (const auto& [key, repetitions] : collectives_) {
      for (const Collective& each : repetitions.all) {
        ++all;
        partly += each.lines < each.ranks ? 1 : 0;
        groups[{each.operation->op, each.ranks, each.nodes}].push_back(&each);
      }
    }
    for (auto& [key, members] : groups) {
      const auto& [op, ranks, nodes] = key;
      const std::size_t best = std::ranges::min(members, {}, [](const Collective* each) {
                                 return each->timing;
                               })->timing;
      SampleSet set;
      set.op = op;
      set.ranks = ranks;
      set.algorithm = "nccl";
      set.column = best < kTimingSources.size() ? kTimingSources[best] : "";
      if (nodes > 0 && ranks % nodes == 0) {
        set.gpus_per_node = ranks / nodes;
      }
      for (const Collective* each : members) {
        if (each->timing == best) {
          set.samples.push_back({bytes_of_all(*each), each->time_us * 1e-6, {}});
        }
      }
      worse_timed_ += std::ssize(members) - std::ssize(set.samples);
      result.sets.push_back(std::move(set));
    }
    add_warnings(all, partly, result);
    return result;
  }

private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(file_, std::to_string(line_), message);
  }

  // An object of a line; null where it is absent.
  const Json* object(const Json& tree, std::string_view key) const {
    const Json* value = tree.find(key);
    if (value != nullptr && !value->is_object()) {
      fail(fmt::format("/{}: must be an object, got {}", key, shown(*value)));
    }
    return value;
  }

  // Positions in an error of the parser are those of the line.
  Json parse(std::string_view content) const {
    try {
      return parse_json(content, file_, kLineLimits);
    } catch (const InputError& error) {
      fail(error.problems().front().message);
    }
  }

  void read_line(std::string_view content) {
    const Json tree = parse(content);
    if (!tree.is_object()) {
      fail("must be an object of the NCCL Inspector, with header and coll_perf");
    }
    const Json* header = object(tree, "header");
    const Json* measured = object(tree, "coll_perf");
    if (measured == nullptr) { // messages between two ranks, events of the proxy thread
      if (header == nullptr) {
        fail("neither header nor coll_perf: not a line of the NCCL Inspector");
      }
      if (object(tree, "dump_stats") == nullptr) {
        ++without_collective_;
      } else { // from version 4.3 on: for the lines to come
        header_ = *header;
      }
      return;
    }
    if (header == nullptr && !header_) {
      fail("/header: required");
    }
    add(line_of(header != nullptr ? *header : *header_, *measured));
  }

  CollectiveLine line_of(const Json& header_tree, const Json& measured_tree) const {
    Problems problems;
    Fields header(header_tree, problems);
    Fields measured(measured_tree, problems);
    const Range any = between(0, kMostExact);
    CollectiveLine line;
    const Json* id = header.any("id");
    line.communicator = id != nullptr && id->is_string()
                            ? id->as_string()
                            : std::to_string(header.integer("id", any));
    line.ranks = header.integer("n_ranks", between(1, keys::kMostRanks));
    line.rank = header.integer("rank", between(0, static_cast<double>(line.ranks - 1)));
    line.nodes = header.integer("nnodes", between(0, static_cast<double>(line.ranks)), 0);
    line.operation = measured.string("coll");
    line.number = measured.integer("coll_sn", any);
    line.bytes = measured.integer("coll_msg_size_bytes", any);
    line.time_us = measured.number("coll_exec_time_us", between(0, 1e15));
    line.timing = measured_tree.text("coll_timing_source");
    if (const Json* rate = measured.any("coll_algobw_gbs"); rate != nullptr && rate->is_number()) {
      line.rate_GBps = rate->as_double();
    }
    if (!problems.empty()) {
      const base::Problem& first = problems.list().front();
      fail(first.where + ": " + first.message);
    }
    return line;
  }

  void add(const CollectiveLine& line) {
    const auto* const operation =
        std::ranges::find(kLoggedOperations, line.operation, &OperationRow::logged);
    if (operation == kLoggedOperations.end()) {
      ++unknown_[line.operation];
      return;
    }
    ranks_.insert(line.rank);
    if (line.time_us == 0) {
      ++without_time_;
      return;
    }
    const std::size_t timing = static_cast<std::size_t>(
        std::ranges::find(kTimingSources, line.timing) - kTimingSources.begin());
    const Collective collective{operation, line.ranks, line.nodes,  line.bytes,
                                1,         timing,     line.time_us};
    if (bytes_of_all(collective) > kMostExact) {
      fail("/coll_perf/coll_msg_size_bytes: more than 2^53 bytes on all ranks");
    }
    check_rate(line, collective);
    Repetitions& repetitions =
        collectives_[{line.communicator, std::string(operation->op), line.number}];
    const std::size_t repetition = repetitions.lines_of_rank[line.rank]++;
    if (repetition == repetitions.all.size()) {
      repetitions.all.push_back(collective);
      return;
    }
    Collective& known = repetitions.all[repetition];
    if (known.bytes != line.bytes || known.ranks != line.ranks) {
      fail(fmt::format("{} {}: {} bytes on {} ranks, but {} bytes on {} ranks in a line before: "
                       "the files are not of one job",
                       line.operation, line.number, line.bytes, line.ranks, known.bytes,
                       known.ranks));
    }
    ++known.lines;
    if (std::pair(timing, line.time_us) < std::pair(known.timing, known.time_us)) {
      known.timing = timing;
      known.time_us = line.time_us;
    }
  }

  // Of a log whose sizes mean something else than is assumed here, the rate would not follow.
  void check_rate(const CollectiveLine& line, const Collective& collective) {
    constexpr double kTolerance = 0.01;
    constexpr double kDigits = 1e-6; // GB/s, of the last digit
    if (line.rate_GBps.value_or(0) == 0) {
      return; // also what the plug-in writes for an all-to-all
    }
    const double rate = bytes_of_all(collective) / 1e3 / line.time_us;
    wrong_rates_ += std::abs(rate - *line.rate_GBps) > kTolerance * rate + kDigits ? 1 : 0;
  }

  void add_warnings(std::int64_t all, std::int64_t partly, Samples& result) const {
    add_where(result.warnings,
              {{ranks_.size() == 1, "one rank: its times contain waiting for the others; add the "
                                    "files of the other ranks"},
               {ranks_.size() > 1 && partly > 0,
                fmt::format("{} of {} collectives were logged by fewer ranks than took part: their "
                            "times may contain waiting",
                            partly, all)}});
    for (const SampleSet& set : result.sets) {
      if (set.column != kTimingSources.front()) {
        result.warnings.push_back(
            fmt::format("{} with {} ranks: {} timed by {}, not by the GPU's clock", set.op,
                        set.ranks, counted(std::ssize(set.samples), "collective"),
                        set.column.empty() ? "an unknown source" : set.column));
      }
    }
    add_where(
        result.warnings,
        {{worse_timed_ > 0, counted(worse_timed_, "collective") +
                                " left out: others of the same operation have a better clock"},
         {without_time_ > 0, counted(without_time_, "line") + " left out: the time is 0"},
         {without_collective_ > 0,
          counted(without_collective_, "line") + " left out: no collective"}});
    for (const auto& [operation, count] : unknown_) {
      result.warnings.push_back(counted(count, "line") + " left out: " +
                                base::shown_value(operation) + " is no operation of ours");
    }
    add_where(result.warnings,
              {{wrong_rates_ > 0,
                fmt::format("the rate of {} does not follow from size and time: do the sizes mean "
                            "what the NCCL Inspector writes?",
                            counted(wrong_rates_, "line"))}});
  }

  const ImportOptions& options_;
  std::string file_; // for messages
  std::int64_t line_ = 0;
  std::optional<Json> header_; // of lines without one
  // By communicator, operation and sequence number, which NCCL counts for each operation.
  std::map<std::tuple<std::string, std::string, std::int64_t>, Repetitions> collectives_;
  std::set<std::int64_t> ranks_;
  std::map<std::string, std::int64_t> unknown_;
  std::int64_t without_time_ = 0, without_collective_ = 0, worse_timed_ = 0, wrong_rates_ = 0;
};

} // namespace

Samples import_nccl_inspector(const std::vector<std::string>& files, const ImportOptions& options) {
  layers::Source source = make_source("nccl-inspector", options);
  InspectorReader reader(options);
  for (const std::string& file : files) {
    reader.read(file, source);
  }
  Samples result = reader.samples(result_name(options, files.front()));
  result.source = std::move(source);
  return result;
}

} // namespace stepsim::io
