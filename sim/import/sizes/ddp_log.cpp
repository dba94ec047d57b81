// The log is a text of keys and lists, whose quotes and brackets differ between a printed
// dictionary and JSON: values are the digits, blanks and commas behind a key.
#include "import/sizes/size_files.hpp"

#include <cctype>

namespace stepsim::io {

namespace {

constexpr std::int64_t kMostBucketBytes = std::int64_t{1} << 53;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The lists behind a key: "0 1, 2 3" and "[[0, 1], [2, 3]]" are both {{0, 1}, {2, 3}}, and
// "[8, 9]" is {{8}, {9}}. Empty if the key is not there or has no value.
std::vector<std::vector<std::int64_t>> lists_of(const ImportedText& input, std::string_view key) {
  std::size_t at = input.text.find(key);
  while (at != std::string::npos &&
         ((at > 0 && is_word(input.text[at - 1])) ||
          (at + key.size() < input.text.size() && is_word(input.text[at + key.size()])))) {
    at = input.text.find(key, at + 1);
  }
  std::vector<std::vector<std::int64_t>> lists;
  if (at == std::string::npos) {
    return lists;
  }
  std::size_t i = at + key.size();
  while (i < input.text.size() &&
         std::string_view("\"' :=\t").find(input.text[i]) != std::string_view::npos) {
    ++i;
  }
  int depth = 0;
  bool nested = false;
  bool next = true; // the number that follows begins a list
  std::string digits;
  const auto end_number = [&] {
    if (digits.empty()) {
      return;
    }
    const auto number = parse_whole(digits);
    if (!number || *number < 0 || *number > kMostBucketBytes) {
      throw InputError(input.name, "",
                       std::string(key) + ": must be whole numbers from 0 to 2^53, got " +
                           base::shown_value(digits));
    }
    if (next) {
      lists.emplace_back();
    }
    lists.back().push_back(*number);
    next = false;
    digits.clear();
  };
  for (; i < input.text.size(); ++i) {
    const char c = input.text[i];
    if (c >= '0' && c <= '9') {
      digits += c;
      continue;
    }
    end_number();
    if (c == ',') {
      next = next || !nested;
    } else if (c == '[') {
      nested = ++depth > 1;
      next = true;
    } else if (c == ']') {
      next = true;
      if (--depth <= 0) {
        break;
      }
    } else if (c != ' ' && !(depth > 0 && (c == '\n' || c == '\r' || c == '\t'))) {
      break;
    }
  }
  // A list without brackets ends with its line, its quotes, the dictionary or a comma and the next
  // key.
  const std::string_view rest = std::string_view(input.text).substr(std::min(i, input.text.size()));
  const auto* const colon = std::ranges::find_if_not(rest, is_word);
  const bool ends = rest.empty() ||
                    std::string_view("]\"'})\r\n").find(rest.front()) != std::string_view::npos ||
                    (next && colon != rest.begin() && colon != rest.end() && *colon == ':');
  const bool has_begun = !lists.empty() || !digits.empty();
  if (depth > 0 || (has_begun && !ends)) {
    throw InputError(input.name, "",
                     std::string(key) + ": must be lists of whole numbers, got " +
                         (i < input.text.size()
                              ? base::shown_value(std::string_view(input.text).substr(i, 1))
                              : std::string("the end of the file")));
  }
  end_number();
  return lists;
}

std::vector<std::vector<std::int64_t>> first_of(const ImportedText& input, std::string_view rebuilt,
                                                std::string_view first) {
  auto lists = lists_of(input, rebuilt);
  return lists.empty() ? lists_of(input, first) : lists;
}

} // namespace

DdpLog read_ddp_log(const std::string& path, std::uint64_t max_bytes) {
  const ImportedText input = read_import(path, max_bytes);
  DdpLog log;
  log.file = input.name;
  log.source = input.file;
  for (const auto& list : first_of(input, "rebuilt_bucket_sizes", "bucket_sizes")) {
    log.bucket_bytes.insert(log.bucket_bytes.end(), list.begin(), list.end());
  }
  if (log.bucket_bytes.empty()) {
    throw InputError(input.name, "",
                     "neither rebuilt_bucket_sizes nor bucket_sizes: the values of "
                     "model._get_ddp_logging_data() are needed");
  }
  log.parameters = first_of(input, "rebuilt_per_bucket_param_indices", "per_bucket_param_indices");
  if (!log.parameters.empty() && log.parameters.size() != log.bucket_bytes.size()) {
    throw InputError(input.name, "",
                     std::to_string(log.bucket_bytes.size()) + " bucket sizes, but indices of " +
                         std::to_string(log.parameters.size()) + " buckets");
  }
  for (const auto& list : lists_of(input, "prev_iteration_grad_ready_order_indices")) {
    log.ready_order.insert(log.ready_order.end(), list.begin(), list.end());
  }
  return log;
}

} // namespace stepsim::io
