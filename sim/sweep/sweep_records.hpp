#pragma once
// The lines of a sweep's output: a header, then one flat record per point. Everything that does not
// change from point to point (keys, texts of axis values) is written out once, so that a record
// costs its numbers only.
//   jsonl   {"record":"header",...}              keys sorted
//           {"bottleneck":"compute",...,"point":0,...,"status":"ok",...}
//   csv     # {"record":"header",...}
//           point,status,<varied>[,replication],<summary, sorted>,method,error        RFC 4180
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/summary_fields.hpp"
#include "sweep/shard.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// npz: the binary form, which has columns instead of lines (record_columns.hpp).
enum class RecordFormat { jsonl, csv, npz };

// What a record says of its point: a summary, or the record of a collective, or the error (then all
// numbers are null).
struct PointOutcome {
  Summary summary;
  io::Json collective; // null for a scenario
  std::string method;  // evaluator that gave the times
  std::string error;   // "" = ok; one line
};

// Numbers as text, kept for those that come again soon: many summary numbers are the same in the
// next record, or twice in one. One object per thread.
class NumberTexts {
public:
  void append(std::string& out, double value);

private:
  struct Entry {
    std::uint64_t bits = 0; // of the value; 0 is 0.0, whose text is "0"
    std::uint8_t size = 1;
    std::array<char, 31> text{'0'};
  };
  std::array<Entry, 256> entries_;
};

class Records {
public:
  // Where a column's value comes from; `summary`: a row of summary_fields.hpp, `member`: the record
  // of a collective.
  enum class Source { record, point, status, axis, replication, summary, member, method, error };

  // Lines: not for RecordFormat::npz (asserted).
  Records(const Sweep& sweep, RecordFormat format);

  // The first line, or for CSV the first two, with line ends. `tool` names program and version;
  // `base` are further members (sweep_base.hpp).
  [[nodiscard]] std::string header(std::string_view tool, std::string_view grid_hash,
                                   const Shard& shard, const io::Object& base = {}) const;
  // Appends the record of a point, with its line end.
  void append(std::string& out, std::int64_t point, const PointOutcome& outcome,
              NumberTexts& numbers) const;

  [[nodiscard]] RecordFormat format() const { return format_; }
  [[nodiscard]] std::int64_t points() const { return strides_[0]; }

private:
  struct Column {
    std::string key;
    Source source{};
    std::size_t axis{};
    const SummaryField* field{};
    std::string member, part; // key in the record of a collective, and in the object there
    std::string prefix;       // text before the value: separator, in JSON the key
  };
  void append_value(std::string& out, const Column& column, std::int64_t point,
                    const PointOutcome& outcome, NumberTexts& numbers) const;
  void append_summary(std::string& out, const SummaryField& field, const Summary& summary,
                      NumberTexts& numbers) const;
  void append_member(std::string& out, const Column& column, const io::Json& record) const;
  void append_word(std::string& out, std::string_view word) const;
  void append_text(std::string& out, std::string_view text) const;
  void append_json(std::string& out, const io::Json& value) const;

  RecordFormat format_;
  io::Json axes_; // of the header
  std::int64_t replications_;
  std::vector<std::int64_t> strides_;
  std::vector<std::vector<std::string>> axis_texts_; // [axis][value]
  std::vector<std::string> keys_;                    // of all columns, in order
  std::vector<Column> columns_;
  std::string end_; // behind the last value: brace, line end
};

// What existing output says, without parsing whole records: point number and whether it failed.
struct RecordMark {
  std::int64_t point = -1; // -1: not a record
  bool failed = false;
};
// `line` without its line end; -1 for headers and damaged lines.
[[nodiscard]] RecordMark record_mark(std::string_view line, RecordFormat format);

// Whether a file that begins like this is the output of a sweep, in either format.
[[nodiscard]] bool is_sweep_output(std::string_view head);

} // namespace stepsim::study
