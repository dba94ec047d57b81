#pragma once
// Writes the lines of a sweep's output: a header, then one flat record per point. Text that is the
// same for many points (keys, axis values) is prepared once, so that only the numbers of a record
// have to be formatted.
//   jsonl   {"record":"header",...}              keys sorted
//           {"bottleneck":"compute",...,"point":0,...,"status":"ok",...}
//   csv     # {"record":"header",...}
//           point,status,<varied>[,replication],<summary, sorted>,method,error        RFC 4180

#include "run/summary_fields.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

enum class RecordFormat { jsonl, csv };

// The outcome of a point: a summary, the record of a collective, or an error. If there is an error,
// all numbers in the record of the point are null.
struct PointOutcome {
  Summary summary;
  io::Json collective; // record of a collective; null for a scenario
  std::string method;  // evaluator of the times, as in Result::method
  std::string error;   // one line; empty if the point did not fail
};

// Converts numbers to text and caches the texts, because many numbers of a summary are repeated in
// the same record or the next. One object per thread.
class NumberTexts {
public:
  void append(std::string& out, double value);

private:
  struct Entry {
    std::uint64_t bits = 0; // bit pattern of the value; 0 is 0.0, whose text is "0"
    std::uint8_t size = 1;
    std::array<char, 31> text{'0'};
  };
  std::array<Entry, 256> entries_;
};

class Records {
public:
  // The source of a column's value. `summary` is a row of summary_fields.hpp, `member` a member of
  // the record of a collective.
  enum class Source { record, point, status, axis, replication, summary, member, method, error };

  // `chosen` are the figures of a record, all if empty; CSV keeps their order. Point, status,
  // varied fields, method and error are in every record. Throws UsageError for an unknown figure.
  Records(const Sweep& sweep, RecordFormat format, std::span<const std::string> chosen = {});

  // The first line, for CSV the first two lines, with line ends. `tool` has the name and version of
  // the program, `base` further members of the header (sweep_file.hpp).
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
    std::string member, part; // key in the record of a collective, and key in that object
    std::string prefix;       // text before the value: separator and, in JSON, key
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
  io::Json axes_, chosen_; // members of the header; chosen_ is null for all figures
  std::int64_t replications_;
  std::vector<std::int64_t> strides_;
  std::vector<std::vector<std::string>> axis_texts_; // [axis][value]
  std::vector<std::string> keys_;                    // keys of all columns, in order
  std::vector<Column> columns_;
  std::string end_; // text after the last value: brace, line end
};

// The point number of a record in existing output, and whether it failed. Records need not be
// parsed to find both.
struct RecordMark {
  std::int64_t point = -1; // -1: not a record
  bool failed = false;
};
// The mark of `line`, which has no line end. The point is -1 for headers and damaged lines.
[[nodiscard]] RecordMark record_mark(std::string_view line, RecordFormat format);

// Whether a file that begins with `head` is the output of a sweep as JSON Lines or CSV.
[[nodiscard]] bool is_sweep_output(std::string_view head);

} // namespace stepsim::study
