// The text form (IO 6.1):
//
//   # Collective test starting: all_reduce_perf
//   #  Rank  0 Group  0 Pid 123 on host device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
//   #       size   count   type   redop  root   time  algbw  busbw #wrong   time  algbw  busbw
//   #wrong
//       33554432 4194304 double     sum    -1 182.87 183.49 321.10      0 182.88 183.48 321.08 0
//
// Job launchers put tags and time stamps in front, NCCL its own lines between.
#include "import/nccl/import_nccl_tests.hpp"

#include "import/import_detect.hpp"

namespace stepsim::io {

namespace {

// Columns of a row: size, count, type, then redop and root where the operation has them, then time,
// algbw, busbw and #wrong once per half; with minimum and maximum a half has eight.
struct Layout {
  std::size_t prefix{}; // columns before the first time
  std::size_t per_half = 4;
  bool counts_wrong = true; // `error` of older versions is the largest deviation instead
};

bool fits(std::size_t words, const Layout& layout) {
  const std::size_t halves = words < layout.prefix ? 0 : (words - layout.prefix) / layout.per_half;
  return (halves == 1 || halves == 2) && words == layout.prefix + halves * layout.per_half;
}

// Of the header with the names of columns; empty if the line is none.
std::optional<Layout> read_layout(const std::vector<std::string_view>& words) {
  const auto has = [&](std::string_view word) { return std::ranges::count(words, word) > 0; };
  if (!has("size") || !has("count") || !has("type")) {
    return std::nullopt;
  }
  Layout layout;
  layout.prefix = 3 + (has("redop") ? 1 : 0) + (has("root") ? 1 : 0);
  layout.per_half =
      std::ranges::any_of(words, [](auto word) { return word.starts_with("i_"); }) ? 8 : 4;
  layout.counts_wrong = !has("error");
  return layout;
}

// By the number of words, where no header was seen.
std::optional<Layout> guessed_layout(std::size_t words) {
  switch (words) {
  case 13:
  case 9:
    return Layout{5, 4};
  case 12:
    return Layout{4, 4};
  case 11:
    return Layout{3, 4};
  default:
    return std::nullopt;
  }
}

// Lines come one by one: a line with '#' says what the rows below it are, a line with enough
// numbers is a row, all others are the job's.
class TextReader {
public:
  TextReader(const std::string& file, bool skip_bad_times)
      : file_(file), skip_bad_times_(skip_bad_times) {}

  // `cut`: the log ends in the line.
  void line(const TextLine& line, bool cut) {
    const std::string_view text = untagged(line.text);
    if (text.starts_with('#')) {
      header(text);
      return;
    }
    std::vector<std::string_view> words = words_of(text);
    for (const std::string_view word : words) { // of the command that a script echoes
      const std::string_view program = word.substr(word.find_last_of('/') + 1);
      program_ = op_of_program(program).empty() ? program_ : program;
    }
    while (words.size() > 2 && (is_time(words.back()) || is_date(words.back()))) {
      words.pop_back();
    }
    // A row starts with a size and has a word, its type, in third place.
    if (words.size() >= 9 && parse_whole(words[0]) && !parse_real(words[2])) {
      row(words, line.number, cut);
    }
  }
  [[nodiscard]] std::vector<NcclTable> tables() && { return std::move(tables_); }

private:
  void header(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text.substr(1));
    constexpr std::string_view kStarting = "Collective test starting:";
    if (const std::size_t at = text.find(kStarting); at != std::string_view::npos) {
      begin(trimmed(text.substr(at + kStarting.size())));
      titled_ = true;
      // Older versions print no title: this line then begins a table.
    } else if (!words.empty() && words[0] == "nThread") {
      if (!titled_) {
        begin(program_);
      }
      program_.clear();
      titled_ = false;
    } else if (words.size() > 4 && words[0] == "Rank" && parse_whole(words[1])) {
      rank(words);
    } else if (const auto layout = read_layout(words)) {
      layout_ = layout;
    } else if (text.find("Avg bus bandwidth") != std::string_view::npos) {
      if (const auto value = parse_real(words.back())) {
        table().logged_busbw = *value * 1e9;
      }
    }
  }

  // Rank 0 Group 0 Pid 123 on HOST device 0 [0000:1b:00] NVIDIA H100 80GB HBM3
  void rank(const std::vector<std::string_view>& words) {
    const auto behind = [&](std::string_view word) {
      const auto at = std::ranges::find(words, word);
      return at == words.end() || at + 1 == words.end() ? std::string_view() : at[1];
    };
    table().add_rank(*parse_whole(words[1]), parse_whole(behind("Group")).value_or(0),
                     std::string(behind("on")));
    std::string device;
    for (auto word = std::ranges::find_if(words, [](auto w) { return w.starts_with('['); });
         word != words.end(); ++word) {
      if (!word->starts_with('[')) {
        device.append(device.empty() ? "" : " ").append(*word);
      }
    }
    if (!device.empty()) {
      table().devices.insert(device);
    }
  }

  // A row in which NCCL prints a line of its own goes on in the next line.
  static bool has_log_line(std::span<const std::string_view> words) {
    const auto nccl = std::ranges::find(words, "NCCL");
    return nccl != words.end() && nccl + 1 != words.end() &&
           (nccl[1] == "INFO" || nccl[1] == "WARN");
  }

  void row(const std::vector<std::string_view>& words, std::int64_t number, bool cut) {
    auto layout = layout_ ? layout_ : guessed_layout(words.size());
    // Older versions leave redop and root blank where the operation has none.
    while (layout && !fits(words.size(), *layout) && layout->prefix > 3 && parse_real(words[3])) {
      --layout->prefix;
    }
    const bool fit = layout && fits(words.size(), *layout);
    const bool differs = !table().rows.empty() && words.size() != last_words_;
    if (has_log_line(words) || (cut && (!fit || differs))) {
      ++table().interrupted;
      return;
    }
    if (!fit) {
      fail(number, fmt::format("{} columns do not fit the header", words.size()));
    }
    NcclRow row;
    row.bytes = *parse_whole(words[0]);
    if (row.bytes < 0 || row.bytes > base::kMaxExactBytes) {
      fail(number, "size must be >= 0, got " + std::string(words[0]));
    }
    const std::size_t halves = (words.size() - layout->prefix) / layout->per_half;
    if (skip_bad_times_ && !seconds_of(words[layout->prefix])) {
      ++table().skipped;
      return;
    }
    for (std::size_t i = 0; i < halves; ++i) { // a lone half is in-place
      const std::size_t first = layout->prefix + i * layout->per_half;
      row.halves[halves == 1 ? 1 : i] =
          half(words[first], layout->counts_wrong ? words[first + 3] : "", number);
    }
    const bool reduces = layout->prefix > 3 && !parse_real(words[3]);
    row.kind = kind_of(words[2], reduces ? words[3] : "");
    if (table().dtype.empty()) {
      table().dtype = words[2];
      table().redop = reduces ? words[3] : "";
    }
    last_words_ = words.size();
    table().rows.push_back(std::move(row));
  }

  // Empty for a time out of range.
  [[nodiscard]] static std::optional<double> seconds_of(std::string_view time) {
    const auto seconds = parse_scaled(time, -6);
    return seconds && measured_times().contains(*seconds) ? seconds : std::nullopt;
  }

  [[nodiscard]] NcclHalf half(std::string_view time, std::string_view wrong,
                              std::int64_t number) const {
    const auto seconds = seconds_of(time);
    if (!seconds) {
      fail(number, "time " + measured_times().text() + " s, got " + base::shown_value(time));
    }
    NcclHalf half;
    half.present = true;
    half.times_s.push_back(*seconds);
    // Long times are printed as 1.2e+06, with two digits.
    half.rounded = time.find('e') != std::string_view::npos;
    half.wrong = parse_real(wrong).value_or(0); // "N/A": not checked
    return half;
  }

  // A log may hold several programs, each with a header of its own.
  void begin(std::string_view title) {
    tables_.emplace_back().title = title;
    layout_.reset();
  }
  NcclTable& table() { return tables_.empty() ? tables_.emplace_back() : tables_.back(); }
  [[noreturn]] void fail(std::int64_t number, const std::string& message) const {
    throw InputError(file_, std::to_string(number), message);
  }

  const std::string& file_;
  bool skip_bad_times_;
  std::vector<NcclTable> tables_;
  std::optional<Layout> layout_;
  std::size_t last_words_ = 0; // of the row before
  std::string program_;        // named by a line above the table; "" = none
  bool titled_ = false;        // the next "# nThread" line belongs to the table begun by its title
};

} // namespace

std::vector<NcclTable> read_nccl_text(std::string_view text, const std::string& file,
                                      bool skip_bad_times) {
  TextReader reader(file, skip_bad_times);
  for (const TextLine& line : lines_of(text)) {
    reader.line(line, line.text.data() + line.text.size() == text.data() + text.size());
  }
  return std::move(reader).tables();
}

} // namespace stepsim::io
