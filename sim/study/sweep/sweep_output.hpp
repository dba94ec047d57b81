#pragma once
// Writes the lines of a sweep, and reads what an interrupted sweep has left. A file grows by whole
// records in point order, and nothing is buffered between calls. If the process is killed, the file
// is a prefix of the finished file: complete lines, perhaps followed by a part of the next line.
#include <chrono>
#include <fstream>

#include "document/file.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// The interval between syncs of the file to the disk. A crash of the machine loses at most so much
// work; syncing every block would slow sweeps down.
inline constexpr std::chrono::seconds kSyncInterval{5};

// The destination of the lines: a growing file, or a string in memory.
class SweepOutput {
public:
  explicit SweepOutput(std::string* text) : text_(text) {}
  explicit SweepOutput(io::OutputFile& file) : file_(&file) {}
  SweepOutput(const SweepOutput&) = delete;
  SweepOutput& operator=(const SweepOutput&) = delete;

  // Writes all of `lines`, and syncs the file every kSyncInterval. If that fails, throws
  // SimulationError `FILE: write failed: REASON (points 0..1233 are safe)`: 1233 is the point of
  // the last complete record; in a shard, the points of the shard up to 1233 are safe.
  void write(std::string_view lines);
  // Tells that the file already has the records up to `point`, of an earlier run.
  void set_safe(std::int64_t point) { safe_point_ = point; }

private:
  void note_last_record(std::string_view done);

  io::OutputFile* file_ = nullptr;
  std::string* text_ = nullptr;
  std::int64_t safe_point_ = -1; // of an earlier run, or noted when a write fails
  std::string last_;             // lines of the last write
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

// Reads a file row by row. The constructor and next() throw InputError if the file cannot be read.
class RowReader {
public:
  explicit RowReader(const std::string& path);

  // Sets `row` to the next complete row without its line end, valid until the next call. Returns
  // false at the end of the file, or if only an incomplete row is left. With csv, a line end inside
  // quotes does not end the row; header lines must be read as jsonl.
  bool next(std::string_view& row, RecordFormat format);
  // The offset after the last row that next() gave, in bytes from the start of the file.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  // The incomplete row, after next() returned false.
  [[nodiscard]] std::string_view rest() const { return row_; }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
  std::ifstream file_;
  std::string row_;
  std::uint64_t offset_ = 0;
};

// The header of an output.
struct SweepHeader {
  RecordFormat format = RecordFormat::jsonl;
  io::Json json;
  std::string columns; // CSV: the second line of the file
};

// Reads the header lines at the beginning of a file. Empty if the file ends before they do. Throws
// InputError if the first is no JSON.
[[nodiscard]] std::optional<SweepHeader> read_sweep_header(RowReader& reader);
// Whether two headers are of the same sweep, whatever their shards. The members `scenario` and
// `files` may differ, because a scenario can be written in several ways (grid_hash says whether two
// sweeps are equal).
[[nodiscard]] bool same_work(SweepHeader a, SweepHeader b);

// The content of an existing output file of this sweep and shard.
struct Existing {
  std::int64_t records = 0;         // complete records: the first `records` points of the shard
  std::uint64_t header = 0;         // offset after the header lines
  std::uint64_t end = 0;            // offset after the last complete row; 0 = no complete header
  std::vector<std::int64_t> failed; // indices, from 0, of the records with status error
};

// Reads an output file to continue it. `header` is the text of the header lines that the file must
// begin with, compared as by same_work(). Throws InputError if the file cannot be read, if it
// belongs to another sweep or shard, or if its records are not the first points of the shard in
// order.
[[nodiscard]] Existing scan_existing(const std::string& path, std::string_view header,
                                     const Shard& shard, RecordFormat format);

// Replaces the records `existing.failed` of `file`, which is at `path`, by again(index), a record
// with its line end: a copy of the file up to its last complete record takes the place of the file.
// Returns false and leaves the file unchanged if all these records are the same as before.
bool replace_records(io::OutputFile& file, const std::string& path, const Existing& existing,
                     RecordFormat format,
                     const std::function<std::string(std::int64_t index)>& again);

} // namespace stepsim::study
