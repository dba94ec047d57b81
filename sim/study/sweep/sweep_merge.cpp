// All inputs are read side by side, one record of each in memory. Point p is in the files of shard
// p mod n alone; where it is in none, the smallest point number of all files is next. Time and
// memory are by the records, not by the number of points in a header, which a damaged file may give
// as anything.
#include "study/sweep/sweep.hpp"

#include <sys/resource.h>

#include <unordered_map>

#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

// One input file and its next record.
struct MergeInput {
  std::string path;
  std::unique_ptr<RowReader> reader;
  SweepHeader header;
  std::int64_t total = 0; // points of the whole sweep
  Shard shard;            // the shard whose points the file has
  RecordMark mark;        // mark of the next record; its point is -1 after the last one
  std::string row;        // the next record without its line end

  // Reads the next record. An incomplete last row is ignored. Throws InputError if the next record
  // is out of order or not of the shard.
  void advance() {
    const std::int64_t before = mark.point;
    mark = {};
    std::string_view next;
    if (!reader->next(next, header.format)) {
      return;
    }
    row.assign(next);
    mark = record_mark(row, header.format);
    if (mark.point <= before || mark.point >= total) {
      throw InputError(
          path, "", fmt::format("the record behind point {} is out of order or damaged", before));
    }
    if (mark.point % shard.count != shard.index) {
      throw InputError(path, "",
                       "point " + std::to_string(mark.point) + " is not of shard " +
                           std::to_string(shard.index) + '/' + std::to_string(shard.count));
    }
  }
};

std::string hash_of(const MergeInput& input) {
  return input.header.json.find("grid_hash")->as_string();
}

// Lets this process have so many more files open, as far as its hard limit goes: opening one says
// what is missing.
void allow_open_files(std::size_t more) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + more, limit.rlim_max);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// The hash says that the work is the same; the rest of the header must agree as well, because the
// merged file has only one.
void check_same_sweep(const MergeInput& a, const MergeInput& b) {
  if (hash_of(a) != hash_of(b)) {
    throw InputError(b.path, "",
                     "grid_hash " + hash_of(b) + " differs from " + a.path + " " + hash_of(a) +
                         ": not the same sweep");
  }
  if (a.header.format != b.header.format) {
    throw InputError(b.path, "", "JSON Lines and CSV cannot be merged with each other");
  }
  if (a.shard.count != b.shard.count) {
    throw InputError(b.path, "",
                     "is one of " + std::to_string(b.shard.count) + " shards, " + a.path +
                         " one of " + std::to_string(a.shard.count));
  }
  if (!same_work(a.header, b.header)) {
    throw InputError(b.path, "", "its header differs from that of " + a.path);
  }
}

std::string merged_header(const SweepHeader& of_shard, const std::string& output) {
  io::Json header = header_at(of_shard.json, output);
  header.set("shard", 0);
  header.set("shards", 1);
  const bool csv = of_shard.format == RecordFormat::csv;
  return (csv ? "# " : "") + io::compact(header) + "\n" + (csv ? of_shard.columns + "\n" : "");
}

// The record of a point.
struct Taken {
  std::string row;
  bool failed = false;
};

// The record of `point` from the files of its shard; all that hold it step on. False if none does.
// A point may be in several files, for example after a shard was run twice. Runs are reproducible,
// so that records of a point that differ are a sign of another version or of a damaged file.
bool take(const std::vector<MergeInput*>& inputs, std::int64_t point, Taken& taken) {
  const MergeInput* first = nullptr;
  for (MergeInput* input : inputs) {
    if (input->mark.point != point) {
      continue;
    }
    if (first == nullptr) {
      first = input;
      taken.failed = input->mark.failed;
      taken.row = input->row;
    } else if (input->row != taken.row) {
      throw InputError(input->path, "",
                       "point " + std::to_string(point) + " differs between " + first->path +
                           " and " + input->path);
    }
    input->advance();
  }
  return first != nullptr;
}

// Points first..last are in no file.
// Shards take points in turn, so that a gap of at least as many points as there are shards touches
// all of them; a shorter one touches neighbouring shards, perhaps around the end.
void add_missing(MergeReport& report, std::int64_t first, std::int64_t last, std::int64_t shards,
                 std::set<std::pair<std::int64_t, std::int64_t>>& absent) {
  report.missing.emplace_back(first, last);
  if (last - first >= shards - 1) {
    absent.emplace(0, shards - 1);
  } else if (first % shards <= last % shards) {
    absent.emplace(first % shards, last % shards);
  } else {
    absent.emplace(first % shards, shards - 1);
    absent.emplace(0, last % shards);
  }
}

// `absent` holds ranges of indices, perhaps overlapping.
void list_shards(MergeReport& report, std::int64_t shards,
                 const std::set<std::pair<std::int64_t, std::int64_t>>& absent) {
  constexpr std::size_t kMostListed = 100;
  std::int64_t next = 0; // all before are done
  for (const auto& [first, last] : absent) {
    std::int64_t index = std::max(first, next);
    for (; index <= last && report.shards_to_run.size() < kMostListed; ++index) {
      report.shards_to_run.push_back({index, shards});
    }
    report.more_shards_to_run += std::max<std::int64_t>(last - index + 1, 0);
    next = std::max(next, last + 1);
  }
}

// The first point that an input stands at, or `total`.
std::int64_t next_point(const std::vector<MergeInput>& inputs, std::int64_t total) {
  std::int64_t next = total;
  for (const MergeInput& input : inputs) {
    next = input.mark.point >= 0 ? std::min(next, input.mark.point) : next;
  }
  return next;
}

// A file that appears when it is complete. Devices and pipes, whose readers see every piece, get
// nothing before all points are there.
// A merge with points missing writes nothing, so that no file looks complete that is not.
class MergedLines {
public:
  MergedLines(const std::string& path, std::string header)
      : path_(path), block_(std::move(header)) {
    if (io::is_replaceable(path)) {
      file_.emplace(path);
    }
  }
  void add(std::string_view row) {
    constexpr std::size_t kBlock = std::size_t{1} << 18;
    block_.append(row).append("\n");
    if (block_.size() >= kBlock && file_) {
      file_->write(block_);
      block_.clear();
    }
  }
  void commit() {
    if (file_) {
      file_->write(block_);
      file_->commit();
    } else {
      io::write_file(path_, block_);
    }
  }

private:
  std::string path_;
  std::optional<io::OutputFile> file_;
  std::string block_;
};

// Headers may come from damaged files, so that every number has its range before anything is
// counted with it. The axes can have all combinations, replicated; zipped axes have fewer.
void read_totals(MergeInput& input) {
  io::Problems problems;
  io::Fields fields(input.header.json, problems);
  (void)fields.string("grid_hash");
  double most = static_cast<double>(kMostReplications);
  for (const io::Json& axis : fields.array("axes", true)) {
    most *= static_cast<double>(io::Fields(axis, problems).array("values", true).size());
  }
  const auto shards = static_cast<double>(kMostShards);
  input.total = fields.integer("points_total", io::between(1, std::min(most, 0x1p62)));
  input.shard.count = fields.integer("shards", io::between(1, shards));
  input.shard.index = fields.integer(
      "shard",
      io::between(0, static_cast<double>(std::max<std::int64_t>(input.shard.count, 1)) - 1));
  problems.throw_if_any();
}

// Opens a file and reads its header and its first record. Throws InputError if the file is not the
// output of a sweep.
MergeInput open_merge_input(const std::string& path) {
  MergeInput input;
  input.path = path;
  input.reader = std::make_unique<RowReader>(path);
  std::optional<SweepHeader> header;
  try {
    header = read_sweep_header(*input.reader);
    if (header) {
      input.header = std::move(*header);
      read_totals(input);
    }
  } catch (const InputError& error) {
    const base::Problem& first = error.problems().front();
    throw InputError(
        path, "1",
        "no sweep output: " + (first.where.starts_with('/') ? first.where + ": " : std::string()) +
            first.message);
  }
  if (!header) {
    throw InputError(path, "", "no complete header: run this shard again");
  }
  input.advance();
  return input;
}

} // namespace

MergeReport merge_sweeps(const std::vector<std::string>& shards, const std::string& output) {
  allow_open_files(shards.size());
  std::vector<MergeInput> inputs;
  for (const std::string& path : shards) {
    inputs.push_back(open_merge_input(path));
    check_same_sweep(inputs.front(), inputs.back());
    if (inputs.size() > 1) {
      inputs.back().header.json = {}; // equal to the first one
    }
  }
  if (inputs.empty()) {
    throw UsageError("merge: give the files of the shards");
  }
  MergeReport report;
  report.points = inputs.front().total;
  const std::int64_t count = inputs.front().shard.count;
  std::set<std::pair<std::int64_t, std::int64_t>> absent;
  std::unordered_map<std::int64_t, std::vector<MergeInput*>> of_shard;
  for (MergeInput& input : inputs) {
    of_shard[input.shard.index].push_back(&input);
  }
  MergedLines lines(output, merged_header(inputs.front().header, output));
  Taken taken;
  for (std::int64_t point = 0; point < report.points; ++point) {
    const auto found = of_shard.find(point % count);
    if (found == of_shard.end() || !take(found->second, point, taken)) {
      const std::int64_t next = next_point(inputs, report.points);
      add_missing(report, point, next - 1, count, absent);
      point = next - 1;
      continue;
    }
    report.failed += taken.failed ? 1 : 0;
    if (report.missing.empty()) { // else nothing is written
      lines.add(taken.row);
    }
  }
  list_shards(report, count, absent);
  if (report.missing.empty()) {
    lines.commit();
  }
  return report;
}

} // namespace stepsim::study
