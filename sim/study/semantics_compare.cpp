// Walks through `expected` and the output side by side and stops at the first difference. The
// output may hold more than is expected, never less.
#include "study/semantics_result.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/collected.hpp"
#include "document/reader.hpp"

namespace stepsim::study {

namespace {

constexpr double kTolerance = 1e-12;

using Found = std::optional<Difference>;

// Whole numbers are compared exactly, others within a relative tolerance.
// Whole numbers, such as indices and small test values, come out of exact sums; others may be
// summed in another order than by whoever wrote the file.
bool same_number(double expected, double got) {
  const bool whole = expected == std::floor(expected) && got == std::floor(got);
  return expected == got ||
         (!whole &&
          std::abs(expected - got) <= kTolerance * std::max(std::abs(expected), std::abs(got)));
}

Difference difference(const io::Json& expected, const std::string& wanted, const std::string& got) {
  return {expected.pointer(), "expected " + wanted + ", got " + got};
}

std::string entries(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

// {"index": [..], "value": [..]}
bool is_vector(const io::Json& output) {
  return output.is_object() && output.find("index") != nullptr && output.find("value") != nullptr &&
         output.as_object().size() == 2;
}

// `expected` is a list of all `dims` values, the output has the entries that are not zero.
// Entries of the output are ascending, so that one pass over both lists is enough.
Found compare_dense(const io::Json& expected, const io::Json& output, std::int64_t dims) {
  const io::Array& list = expected.as_array();
  if (static_cast<std::int64_t>(list.size()) != dims) {
    return difference(expected, entries(list.size()), std::to_string(dims));
  }
  const io::Array& indices = output.find("index")->as_array();
  const io::Array& values = output.find("value")->as_array();
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool entry =
        next < indices.size() && indices[next].as_integer() == static_cast<std::int64_t>(i);
    const io::Json got = entry ? values[next] : io::Json(0);
    next += entry ? 1 : 0;
    if (list[i].is_null()) {
      continue;
    }
    if (!list[i].is_number() || !same_number(list[i].as_double(), got.as_double())) {
      return difference(list[i], io::shown(list[i]), io::shown(got));
    }
  }
  return std::nullopt;
}

Found compare(const io::Json& expected, const io::Json& output, std::int64_t dims, bool may_end);

// Keys may be missing from `expected`; a key that no output has is an error of the file.
Found compare_objects(const io::Json& expected, const io::Json& output, std::int64_t dims) {
  for (const auto& [key, value] : expected.as_object()) {
    const io::Json* got = output.find(key);
    if (got == nullptr) {
      throw InputError(std::string(value.file()), value.pointer(),
                       "unknown key" +
                           base::did_you_mean(key, base::collected<std::string_view>(
                                                       std::views::keys(output.as_object()))));
    }
    if (Found found = compare(value, *got, dims, key == "iterations")) {
      return found;
    }
  }
  return std::nullopt;
}

Found compare_lists(const io::Json& expected, const io::Json& output, std::int64_t dims,
                    bool may_end) {
  const io::Array& wanted = expected.as_array();
  const io::Array& got = output.as_array();
  for (std::size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
    if (Found found = compare(wanted[i], got[i], dims, false)) {
      return found;
    }
  }
  if (wanted.size() > got.size() || (wanted.size() < got.size() && !may_end)) {
    return difference(expected, entries(wanted.size()), std::to_string(got.size()));
  }
  return std::nullopt;
}

// `may_end`: a list may be shorter than that of the output.
Found compare(const io::Json& expected, const io::Json& output, std::int64_t dims, bool may_end) {
  if (expected.is_null()) {
    return std::nullopt;
  }
  if (expected.is_array() && is_vector(output)) {
    return compare_dense(expected, output, dims);
  }
  if (expected.is_object() && output.is_object()) {
    return compare_objects(expected, output, dims);
  }
  if (expected.is_array() && output.is_array()) {
    return compare_lists(expected, output, dims, may_end);
  }
  const bool same = expected.is_number() && output.is_number()
                        ? same_number(expected.as_double(), output.as_double())
                        : expected == output;
  return same ? Found() : difference(expected, io::shown(expected), io::shown(output));
}

} // namespace

std::optional<Difference> first_difference(const SemanticsFile& file, const io::Json& output) {
  return compare(file.expected, output, file.dims, false);
}

} // namespace stepsim::study
