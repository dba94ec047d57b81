#pragma once
// Where a sweep's lines go, and what an interrupted sweep has left there. A file grows by whole
// records in point order and nothing is ever buffered across a call, so that after a kill it is a
// prefix of the finished file: complete lines, perhaps a piece of one more.
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/shard.hpp"
#include "sweep/sweep_records.hpp"
#include "json/file.hpp"
#include "json/file_write.hpp"

namespace stepsim::study {

// A crash of the machine loses at most so much work; syncing every block would slow sweeps down.
inline constexpr std::chrono::seconds kSyncInterval{5};

// A growing file, or a string in memory.
class SweepOutput {
public:
  explicit SweepOutput(std::string* text) : text_(text) {}
  explicit SweepOutput(io::OutputFile& file) : file_(&file) {}
  SweepOutput(const SweepOutput&) = delete;
  SweepOutput& operator=(const SweepOutput&) = delete;

  // All of it, or SimulationError `FILE: write failed: REASON (points 0..1233 are safe)`: 1233 is
  // the point of the last complete record, and in a shard its own points up to there are meant.
  // Every few seconds what is written goes to the disk.
  void write(std::string_view lines);
  void set_safe(std::int64_t point) { safe_point_ = point; } // the last one in the file already

private:
  void note_last_record(std::string_view done);

  io::OutputFile* file_ = nullptr;
  std::string* text_ = nullptr;
  std::int64_t safe_point_ = -1;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

// Reads rows in the memory of one row and one block. Throws InputError for a file that cannot be
// read.
class RowReader {
public:
  explicit RowReader(const std::string& path);
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  ~RowReader();

  // The next complete row without its line end, valid until the next call; false at the end or
  // where only an incomplete row is left. In CSV a line end inside quotes does not end the row;
  // header lines are read as `jsonl`.
  bool next(std::string_view& row, RecordFormat format);
  [[nodiscard]] std::uint64_t offset() const { return offset_; } // behind the last row given
  [[nodiscard]] std::string_view rest() const; // the incomplete row, after `next` gave false

private:
  bool fill();

  std::string path_;
  int descriptor_ = -1;
  std::string buffer_;
  std::size_t begin_ = 0; // of the unread part of the buffer
  std::uint64_t offset_ = 0;
};

// What is in an output file of this sweep and shard.
struct Existing {
  std::int64_t records = 0;         // complete ones; the first `records` points of the shard
  std::uint64_t header = 0;         // offset behind the header lines
  std::uint64_t end = 0;            // offset behind the last complete row; 0: not even the header
  std::vector<std::int64_t> failed; // indices of the records that are errors
};

// Throws InputError where `row`, the header in the file, is not that of this sweep and shard,
// `line`; the scenario in it may be written in another way (grid_hash). Both without line end.
void require_same_header(const std::string& path, std::string_view row, std::string_view line,
                         const Shard& shard);

// Whether the file holds nothing but a beginning of `text`, or all of it.
[[nodiscard]] bool is_piece_of(const std::string& path, std::string_view text);

// `header` is the text that the file must begin with; the scenario in it may be written in another
// way (grid_hash). Throws InputError where the file belongs to another sweep or shard, or where its
// records are not the first points of the shard in order.
[[nodiscard]] Existing scan_existing(const std::string& path, std::string_view header,
                                     const Shard& shard, RecordFormat format);

// Copies `file`, which is at `path`, up to its last complete record, with the records of
// `existing.failed` replaced by `again(index)` (a record with its line end), and goes on with the
// copy in its place. False, and the file as it was, if all of them came out the same.
bool replace_records(io::OutputFile& file, const std::string& path, const Existing& existing,
                     RecordFormat format,
                     const std::function<std::string(std::int64_t index)>& again);

} // namespace stepsim::study
