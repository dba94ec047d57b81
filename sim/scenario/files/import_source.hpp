#pragma once
// The options that all importers have; each adds its own (IO 2).

#include "base/quantity.hpp"
#include "document/file.hpp"
#include "document/reader.hpp"
#include "layers/trace.hpp"

#include <cmath>
#include <functional>

namespace stepsim::io {

// `attribution` and `licence` are those of the data, not of the program; they travel with the
// result, because a trace that is published again needs both.
struct ImportOptions {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // limit on each input, inflated
  std::string importer = "stepsim";                 // name and version, written to `source`
  std::string name; // name of the result; empty: the stem of the first file
  std::optional<std::string> attribution;
  std::optional<std::string> licence;
  // Progress: importers that read large files piece by piece call it with the (compressed) bytes of
  // all files read so far. May be empty.
  std::function<void(std::uint64_t bytes)> read{};
};

// Parses numbers in logs and tables. The whole text must be one plain decimal number, without
// blanks or thousands separators; the locale has no effect.

// The most elements of a tensor or a message that importers take: their bytes stay exact in a
// double.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 50;

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

using base::parse_number;

// Finite numbers only.
[[nodiscard]] inline std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t> parse_whole(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

// The number times 10^exponent, rounded once: "15143.7" with -6 is the double nearest to 0.0151437.
// The exponent is appended to the text, because a product with 1e-6, which is not exact in binary,
// may differ in its last bit. A text that already has an exponent is multiplied and may be off by
// that bit.
[[nodiscard]] inline std::optional<double> parse_scaled(std::string_view text, int exponent) {
  const auto value = parse_real(text);
  if (!value || text.find_first_of("eE") != std::string_view::npos) {
    return value ? std::optional(*value * std::pow(10.0, exponent)) : value;
  }
  return parse_real(std::string(text) + "e" + std::to_string(exponent));
}

// Functions that all importers use: reading an input with its digest, and the `source` of the
// result (IO 2), that is, the input files and the program, without private data.

// `format`: the name of the importer, such as "kineto". The caller adds a file per input.
[[nodiscard]] layers::Source make_source(std::string_view format, const ImportOptions& options);

// Base name, size and digest of one input.
[[nodiscard]] layers::SourceFile source_file(const std::string& path, std::uint64_t bytes,
                                             std::string digest);

// The base name without known endings, for names of results: "a/b/rank0.pt.trace.json.gz" ->
// "rank0", "-" -> "stdin".
[[nodiscard]] std::string stem_of(std::string_view path);

// `options.name`, else the stem of the first file.
[[nodiscard]] std::string result_name(const ImportOptions& options, const std::string& first_file);

// A small input (table, XML).
struct ImportedText {
  std::string name; // path or "<stdin>", for error messages
  std::string text; // inflated
  layers::SourceFile file;
};
// Reads an input as a whole. Because it stays in memory, the limit is the smaller of `max_bytes`
// and kMostTextBytes. Throws InputError `x.log: empty`, and as read_text() does.
[[nodiscard]] ImportedText read_import(const std::string& path, std::uint64_t max_bytes);

// Lines without line ends (LF or CRLF), numbered from 1; a byte order mark is dropped.
struct TextLine {
  std::int64_t number{};
  std::string_view text;
};
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view text);

// Reads a log line by line, so that memory does not grow with the file: the log of a long job may
// be large, and a small gzip file may inflate to any size. Throws InputError `x.log: empty` and
// `x.log:17: line longer than 1048576 bytes`.
class LineReader {
public:
  LineReader(const std::string& path, std::uint64_t max_bytes) : source_(path, max_bytes, true) {}
  // Reads the next line, which is valid until the next call; false at the end.
  bool next(TextLine& line);
  [[nodiscard]] const std::string& name() const { return source_.name(); } // for messages
  // Throws InputError at the line that next() gave last.
  [[noreturn]] void fail(const std::string& message) const;
  // Base name, size and digest; call it after the last line.
  [[nodiscard]] layers::SourceFile file(const std::string& path) const {
    return source_file(path, source_.file_bytes(), source_.digest());
  }

private:
  ByteSource source_;
  std::string_view chunk_; // part of the current chunk that is not read yet
  std::string line_;
  std::int64_t number_ = 0;
  bool ended_ = false;
};

// words_of() returns the words of a line, trimmed() a text without blanks at its ends, as views
// into the argument. Blanks are spaces, tabs and carriage returns.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
[[nodiscard]] std::string_view trimmed(std::string_view text);
// The text with small letters of ASCII in place of capital ones.
[[nodiscard]] std::string lower_case(std::string_view text);

using base::counted; // for warnings

// Appends the sentences that are true; all are made.
void add_where(std::vector<std::string>& to,
               std::initializer_list<std::pair<bool, std::string>> sentences);

// Reads and writes the `source` object of traces and samples (IO 2) as layers::Source, and reads
// the `warnings` next to it. Their keys are in keys/source_keys.hpp.

// Reads the keys of kSource; the object may have further keys, which the caller reads.
[[nodiscard]] layers::Source read_source(Fields& fields);
// The texts of `warnings` of a file; empty if there are none.
[[nodiscard]] std::vector<std::string> parse_warnings(Fields& fields);
[[nodiscard]] Json to_json(const layers::Source& source);

} // namespace stepsim::io
