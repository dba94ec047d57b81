#pragma once
// One of the files that a merge joins, as lines: its header, and one record after the other.
#include <cstdint>
#include <memory>
#include <string>

#include "sweep/column_reader.hpp"
#include "sweep/shard.hpp"
#include "sweep/sweep_output.hpp"
#include "sweep/sweep_records.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// One input, positioned at its next record.
struct MergeInput {
  std::string path;
  std::unique_ptr<RowReader> reader;    // of lines
  std::unique_ptr<ColumnReader> binary; // of a binary file, which counts as JSON Lines
  std::unique_ptr<Records> records;     // that make lines of it
  NumberTexts numbers;
  PointOutcome outcome; // of `row`, in a binary file
  RecordFormat format = RecordFormat::jsonl;
  io::Json header;
  std::string columns; // second line of CSV
  std::int64_t total = 0;
  Shard shard;
  std::string row;
  RecordMark mark; // of `row`; point -1 at the end

  // Incomplete last rows count as absent. Throws InputError where the next record is out of order.
  void advance();
};

// Throws InputError for what is no output of a sweep.
[[nodiscard]] MergeInput open_merge_input(const std::string& path);

} // namespace stepsim::study
