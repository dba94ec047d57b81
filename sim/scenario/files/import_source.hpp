#pragma once
// Functions that all importers use: reading an input with its digest, and the `source` of the
// result (IO 2), that is, the input files and the program, without private data.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.hpp"
#include "document/file.hpp"
#include "scenario/files/import_options.hpp"

namespace stepsim::io {

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

} // namespace stepsim::io
