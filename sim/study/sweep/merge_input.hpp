#pragma once
// Reads an input file of a merge: the header, and then one record after the other, each as a line.
#include <cstdint>
#include <memory>
#include <string>

#include "document/json.hpp"
#include "study/sweep/shard.hpp"
#include "study/sweep/sweep_output.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// One input file and its next record.
struct MergeInput {
  std::string path;
  std::unique_ptr<RowReader> reader;
  RecordFormat format = RecordFormat::jsonl;
  io::Json header;
  std::string columns;    // CSV: second line of the file
  std::int64_t total = 0; // points of the whole sweep
  Shard shard;            // the shard whose points the file has
  RecordMark mark;        // mark of the next record; its point is -1 after the last one
  std::string row;        // the next record without its line end

  // Reads the next record. An incomplete last row is ignored. Throws InputError if the next record
  // is out of order or not of the shard.
  void advance();
};

// Opens a file and reads its header and its first record. Throws InputError if the file is not the
// output of a sweep.
[[nodiscard]] MergeInput open_merge_input(const std::string& path);

} // namespace stepsim::study
