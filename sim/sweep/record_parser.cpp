#include "sweep/record_parser.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "sweep/record_columns.hpp"
#include "json/json_parse.hpp"
#include "json/json_text.hpp"

namespace stepsim::study {

namespace {

// The value at the start of `rest`, which is then behind it: a text with its quotes, a list, a
// number or a word. Empty where there is none.
std::string_view take_value(std::string_view& rest) {
  std::size_t end = 0;
  if (rest.starts_with('"')) {
    for (end = 1; end < rest.size() && rest[end] != '"'; ++end) {
      end += rest[end] == '\\' ? 1 : 0;
    }
    ++end;
  } else if (rest.starts_with('[')) {
    end = rest.find(']');
    end += end == std::string_view::npos ? 0 : 1;
  } else {
    end = std::min(rest.find_first_of(",}"), rest.size());
  }
  if (end > rest.size()) {
    return {};
  }
  const std::string_view value = rest.substr(0, end);
  rest.remove_prefix(end);
  return value;
}

// Null becomes an empty text. False for what is no text.
bool read_word(std::string_view value, std::string& word) {
  word.clear();
  if (value == "null") {
    return true;
  }
  if (value.size() < 2 || !value.starts_with('"')) {
    return false;
  }
  if (value.find('\\') == std::string_view::npos) {
    word.assign(value.substr(1, value.size() - 2));
    return true;
  }
  const io::Json text = io::parse_json(value, "");
  word = text.is_string() ? text.as_string() : std::string();
  return text.is_string();
}

template <class Number> bool read_number(std::string_view value, Number& number) {
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

bool read_figure(std::string_view value, const SummaryField& field, Summary& summary) {
  const bool is_null = value == "null";
  if (const auto* number = std::get_if<SummaryNumber>(&field.value)) {
    std::optional<double>& figure = summary.**number;
    figure.reset();
    return is_null || read_number(value, figure.emplace());
  }
  if (const auto* flag = std::get_if<SummaryFlag>(&field.value)) {
    std::optional<bool>& figure = summary.**flag;
    figure = is_null ? std::optional<bool>() : value == "true";
    return is_null || value == "true" || value == "false";
  }
  if (const auto* word = std::get_if<SummaryWord>(&field.value)) {
    return read_word(value, summary.**word);
  }
  std::vector<std::int64_t>& counts = summary.*std::get<SummaryCounts>(field.value);
  counts.clear();
  if (is_null) {
    return true;
  }
  if (value.size() < 2 || !value.starts_with('[')) {
    return false;
  }
  value = value.substr(1, value.size() - 2);
  while (!value.empty()) {
    const std::string_view one = value.substr(0, value.find(','));
    if (!read_number(one, counts.emplace_back())) {
      return false;
    }
    value.remove_prefix(std::min(one.size() + 1, value.size()));
  }
  return true;
}

} // namespace

RecordParser::RecordParser(const Sweep& sweep) {
  std::vector<std::pair<std::string, Member>> members{{"record", {"", nullptr, {}}}};
  members.front().second.source = Records::Source::record;
  const RecordColumns columns(sweep);
  for (const RecordColumn& column : columns.columns()) {
    members.push_back({column.key, {"", column.field, column.source}});
  }
  std::ranges::sort(members, {}, [](const auto& member) { return member.first; });
  for (auto& [key, member] : members) {
    member.prefix = members_.empty() ? "{" : ",";
    io::append_compact(member.prefix, io::Json(key));
    member.prefix += ':';
    members_.push_back(std::move(member));
  }
}

bool RecordParser::parse(std::string_view row, PointOutcome& outcome) const {
  for (const Member& member : members_) {
    if (!row.starts_with(member.prefix)) {
      return false;
    }
    row.remove_prefix(member.prefix.size());
    const std::string_view value = take_value(row);
    const bool known = member.source == Records::Source::summary
                           ? read_figure(value, *member.field, outcome.summary)
                       : member.source == Records::Source::method ? read_word(value, outcome.method)
                       : member.source == Records::Source::error  ? read_word(value, outcome.error)
                                                                  : !value.empty();
    if (!known) {
      return false;
    }
  }
  return row == "}";
}

} // namespace stepsim::study
