// RFC 4180 with what spreadsheets and tools add to it: tabs, a byte order mark, comment lines.
#include "document/csv.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/printable.hpp"

namespace stepsim::io {

namespace {

void flatten_into(Object& out, const Json& value, const std::string& name) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) {
      flatten_into(out, member, name.empty() ? key : name + "_" + key);
    }
  } else if (!value.is_array()) {
    out.emplace_back(name, value);
  }
}

// What is left of the text is a view: nothing is copied but the fields.
class CsvParser {
public:
  CsvParser(std::string_view text, const std::string& file) : text_(text), file_(file) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) {
      text_.remove_prefix(kByteOrderMark.size());
    }
  }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (!text_.empty()) {
      const std::string_view line = text_.substr(0, text_.find('\n'));
      if (line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos) {
        skip_line();
        continue;
      }
      if (rows.empty()) {
        // The first line decides: tabs if it has no comma.
        const bool tabs = line.find('\t') != std::string_view::npos;
        separator_ = tabs && line.find(',') == std::string_view::npos ? '\t' : ',';
      }
      rows.push_back(row());
    }
    return rows;
  }

private:
  void skip_line() {
    const std::size_t end = text_.find('\n');
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_;
  }

  CsvRow row() {
    CsvRow result{line_, {}};
    while (true) {
      result.fields.push_back(text_.starts_with('"') ? quoted(result.line) : plain());
      if (text_.starts_with(separator_)) {
        text_.remove_prefix(1);
        continue;
      }
      if (text_.starts_with('\r')) {
        text_.remove_prefix(1);
      }
      if (!text_.empty() && !text_.starts_with('\n')) {
        throw InputError(file_, std::to_string(line_), "text behind a closing quote");
      }
      skip_line();
      return result;
    }
  }

  std::string plain() {
    std::size_t end = 0;
    while (end < text_.size() && text_[end] != separator_ && text_[end] != '\n') {
      ++end;
    }
    std::string_view field = text_.substr(0, end);
    text_.remove_prefix(end);
    if (field.ends_with('\r')) {
      field.remove_suffix(1);
    }
    return std::string(field);
  }

  // A quote within quotes is doubled; lines may break inside.
  std::string quoted(std::int64_t first_line) {
    std::string field;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] == '"' && i + 1 < text_.size() && text_[i + 1] == '"') {
        field += '"';
        ++i;
      } else if (text_[i] == '"') {
        text_.remove_prefix(i + 1);
        return field;
      } else {
        line_ += text_[i] == '\n' ? 1 : 0;
        field += text_[i];
      }
    }
    throw InputError(file_, std::to_string(first_line), "a quote is not closed");
  }

  std::string_view text_;
  const std::string& file_;
  char separator_ = ',';
  std::int64_t line_ = 1;
};

} // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file) {
  return CsvParser(text, file).rows();
}

bool is_formula(std::string_view text) {
  double number{};
  const char* const end = text.data() + text.size();
  return text.size() > 1 && std::string_view("=@+-").find(text.front()) != std::string_view::npos &&
         std::from_chars(text.data(), end, number).ptr != end;
}

// Quoted where a reader would need it. An apostrophe tells spreadsheets that a text is no formula.
void append_csv_cell(std::string& out, std::string_view text) {
  const bool quoted = std::ranges::any_of(
      text, [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; });
  out.append(quoted ? "\"" : "").append(is_formula(text) ? "'" : "");
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"'; };
  const auto is_kept = [](char c) { return c == '"' || c == '\r' || c == '\n' || c == '\t'; };
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (!text.empty() && is_kept(text.front())) {
      out += text.front();
      if (text.front() == '"') {
        out += '"';
      }
      text.remove_prefix(1);
    } else {
      const auto* const stop = std::ranges::find_if(text, is_kept);
      out += base::printable(text.substr(0, static_cast<std::size_t>(stop - text.begin())));
      text.remove_prefix(static_cast<std::size_t>(stop - text.begin()));
    }
  }
  out.append(quoted ? "\"" : "");
}

Object flattened(const Json& record) {
  Object out;
  flatten_into(out, record, "");
  return out;
}

// An empty part is kept, so that "a,,b" is refused and not silently shortened.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace stepsim::io
