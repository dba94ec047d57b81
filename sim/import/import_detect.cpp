// A format is told by words that only it has, in the first megabyte. Files that look like those of
// other tools get an error that says what to export instead.
#include "import/import_detect.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "import/chakra/chakra_nodes.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kHead = std::size_t{1} << 20;

// Its times come from a thread that polls, not from the device.
constexpr std::string_view kFlightRecorder =
    "dumps of the PyTorch flight recorder hold no times of the GPU; export a PyTorch profiler "
    "trace, and give the dump, as JSON, beside it: --flight-record FILE";

// A file that has both words is of the format; without a format the advice says what to export
// instead. The tree is not parsed: files may be larger than memory, and the head ends in the middle
// of one.
struct DetectionRule {
  std::string_view word, other; // an empty one is in every file
  std::optional<ImportFormat> format;
  std::string_view advice = "";
};
constexpr DetectionRule kJsonRules[] = {
    {"\"NEGOTIATE_",
     "",
     {},
     "Horovod timelines are not supported; export a PyTorch profiler trace"},
    {"\"entries\"", "\"profiling_name\"", {}, kFlightRecorder},
    {"\"traceEvents\"", "", ImportFormat::kineto}, // its events may have any of the words below
    {"\"coll_perf\"", "", ImportFormat::nccl_inspector},
    {"\"header\"", "\"n_ranks\"", ImportFormat::nccl_inspector},
    {"\"nodes\"", "\"schema\"", ImportFormat::pytorch_et},
    {"\"workload_graph\"", "", ImportFormat::chakra},
    {"\"COMP_NODE\"", "", ImportFormat::chakra},
    {"\"COMM_COLL_NODE\"", "", ImportFormat::chakra},
    {"\"average_bus_bandwidth\"", "", ImportFormat::nccl_tests},
    {"\"out_of_place\"", "", ImportFormat::nccl_tests},
    {"\"ph\"", "", ImportFormat::kineto},
    {"\"architectures\"", "", ImportFormat::hf_config},
    {"\"model_type\"", "", ImportFormat::hf_config},
};
constexpr DetectionRule kTextRules[] = {
    {"# Collective test starting", "", ImportFormat::nccl_tests},
    {"# nThread", "", ImportFormat::nccl_tests},
    {"algbw", "busbw", ImportFormat::nccl_tests}, // the names of its columns, of a log that is cut
    {"# OSU ", "", ImportFormat::osu},
    {"Layer (type", "", {}, "torchinfo tables are not supported; export a layer table (CSV)"},
    {"GPU0", "CPU Affinity", {}, "nvidia-smi topo -m is not supported; export NCCL_TOPO_DUMP_FILE"},
};
constexpr DetectionRule kXmlRules[] = {
    {"<graphs", "", {}, "NCCL graphs are not supported; export NCCL_TOPO_DUMP_FILE"},
    {"<system", "", ImportFormat::nccl_topology},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Recognised, but not read: `what` says what to export instead.
DetectedFormat not_supported(std::string what) { return {std::nullopt, std::move(what)}; }

// By the first rule that fits.
DetectedFormat detect_by(std::span<const DetectionRule> rules, std::string_view head) {
  const auto rule = std::ranges::find_if(rules, [&](const DetectionRule& each) {
    return contains(head, each.word) && contains(head, each.other);
  });
  return rule == rules.end() ? DetectedFormat{}
                             : DetectedFormat{rule->format, std::string(rule->advice)};
}

// "[3, 9408, 15143.7, 1169]" at the end of a line.
bool is_caffe_row(std::string_view line) {
  const std::size_t open = line.find_last_of('[');
  if (open == std::string_view::npos || !trimmed(line).ends_with(']')) {
    return false;
  }
  const std::string_view fields = line.substr(open + 1);
  const auto commas = std::ranges::count(fields, ',');
  return (commas == 3 || commas == 4) &&
         parse_whole(trimmed(fields.substr(0, fields.find(',')))).has_value();
}

// "8,4096 12.5" or "4096 12.5", perhaps with further numbers.
// Sizes may be preceded by the number of ranks and a comma.
bool is_osu_row(const std::vector<std::string_view>& words) {
  if (words.size() < 2) {
    return false;
  }
  const std::size_t comma = words[0].find(',');
  const std::string_view size =
      comma == std::string_view::npos ? words[0] : words[0].substr(comma + 1);
  return parse_whole(size) &&
         std::all_of(words.begin() + 1, words.end(), [](auto word) { return parse_real(word); });
}

// "4096 1024 float sum -1 12.5 0.33 0.57 0 ..." (IO 6.1): a word, the type, in third place.
bool is_nccl_row(const std::vector<std::string_view>& words) {
  return words.size() >= 9 && parse_whole(words[0]) && parse_whole(words[1]) &&
         !parse_real(words[2]);
}

// A CSV header with a column of names and one of sizes.
bool is_table_header(std::string_view line) {
  std::string padded = ",";
  for (const char c : line) {
    if (c != ' ' && c != '"') {
      padded += c == '\t' ? ',' : c;
    }
  }
  padded += ',';
  return contains(padded, ",name,") &&
         (contains(padded, ",params,") || contains(padded, ",bytes,"));
}

// Unmistakable words first, then the shape of the first lines that are no comments.
DetectedFormat detect_text(std::string_view head) {
  if (auto known = detect_by(kTextRules, head); known.format || !known.advice.empty()) {
    return known;
  }
  std::string_view first;
  for (const TextLine& line : lines_of(head)) {
    const std::string_view text = trimmed(line.text);
    if (text.empty() || text.starts_with('#')) {
      continue;
    }
    if (is_caffe_row(text)) {
      return {ImportFormat::caffe_log, ""};
    }
    if (first.empty()) {
      first = text;
      if (is_table_header(line.text)) {
        return {ImportFormat::layer_table, ""};
      }
      if (const auto words = words_of(text); is_osu_row(words)) {
        return {ImportFormat::osu, ""};
      } else if (is_nccl_row(words)) {
        return {ImportFormat::nccl_tests, ""};
      }
    } else if (first.starts_with("DATA") || first.starts_with("HYBRID_") ||
               first.starts_with("MODEL") || first.starts_with("MICRO") ||
               first.starts_with("DISTRIBUTED_INFERENCE")) {
      return parse_whole(text) ? DetectedFormat{ImportFormat::astra_text, ""} : DetectedFormat{};
    }
  }
  return {};
}

bool digits_at(std::string_view word, std::string_view pattern) { // 'd' = a digit
  return word.size() >= pattern.size() &&
         std::equal(pattern.begin(), pattern.end(), word.begin(), [](char p, char c) {
           return p == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : p == c;
         });
}

bool is_date(std::string_view word) { return word.size() == 10 && digits_at(word, "dddd-dd-dd"); }
bool is_time(std::string_view word) { return word.size() >= 8 && digits_at(word, "dd:dd:dd"); }
// 2026-01-31T12:00:00.123
bool is_stamp(std::string_view word) {
  return word.size() >= 19 && digits_at(word, "dddd-dd-ddTdd:dd:dd");
}

// Length of "0:" or "12: " before the text, as srun --label prints it; 0 if there is none.
std::size_t label_length(std::string_view line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && line[digits] == ':' &&
                 line.size() > digits + 1 && (line[digits + 1] == ' ' || line[digits + 1] == '#')
             ? digits + 1
             : 0;
}

} // namespace

std::string_view untagged(std::string_view line) {
  line = trimmed(line);
  while (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    const std::size_t close = line.find(']');
    if (end == std::string_view::npos || close == std::string_view::npos || close > end ||
        line.substr(close + 1, 4) != "<std") {
      break;
    }
    line = trimmed(line.substr(end + 2));
  }
  line = trimmed(line.substr(label_length(line)));
  while (true) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (word.empty() || word.size() == line.size() ||
        !(is_date(word) || is_time(word) || is_stamp(word))) {
      return line;
    }
    line = trimmed(line.substr(word.size()));
  }
}

// What binary files say of themselves in their first bytes.
DetectedFormat detect_binary(std::string_view head) {
  if (contains(head.substr(0, 128), "brain.Event:")) {
    return not_supported("TensorBoard event files are not supported; export a PyTorch profiler "
                         "trace (export_chrome_trace)");
  }
  // A pickle of version 2 to 5, of one dictionary.
  if (head.size() > 2 && head[0] == '\x80' && head[1] <= '\x05' &&
      contains(head, "profiling_name")) {
    return not_supported(std::string(kFlightRecorder));
  }
  // A model begins with its version, field 1, and the name of its producer, field 2.
  if (head.size() > 2 && head[0] == '\x08' && head[1] < '\x20' && head[2] == '\x12') {
    return not_supported("ONNX models hold no times; export a PyTorch profiler trace");
  }
  return not_supported("binary files are not supported; export a PyTorch profiler trace or a layer "
                       "table (CSV)");
}

// Binary formats first: their bytes may contain any word by chance.
DetectedFormat detect_format(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.starts_with(kByteOrderMark)) {
    head.remove_prefix(kByteOrderMark.size());
  }
  if (head.starts_with("SQLite format 3")) {
    return not_supported("Nsight databases are not supported; export a PyTorch profiler trace");
  }
  if (head.starts_with("PK\x03\x04")) {
    return not_supported("this is a zip archive or a spreadsheet (.zip, .xlsx): unpack it, or "
                         "export CSV");
  }
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  const char first = begin == std::string_view::npos ? ' ' : head[begin];
  if (looks_like_chakra(head)) {
    return {ImportFormat::chakra, ""};
  }
  // Texts have no zero bytes.
  if (contains(head.substr(0, 4096), std::string_view("\0", 1))) {
    return detect_binary(head);
  }
  // A log may begin with a bracket, too: "[0] MPI startup(): ... {0,4}".
  const std::size_t second = head.find_first_not_of(" \t\r\n", begin + 1);
  if (first == '{' || (first == '[' && second != std::string_view::npos && head[second] == '{')) {
    return detect_by(kJsonRules, head);
  }
  return first == '<' ? detect_by(kXmlRules, head) : detect_text(head);
}

std::string import_first(ImportFormat format) {
  const std::string word(kImportFormats[format]);
  const std::string what = format == ImportFormat::kineto ? "a Kineto trace" : "input of " + word;
  return "this is " + what + ": stepsim import " + word + " FILE -o T.json";
}

// Of a gzip file the inflated head.
std::string head_of(const std::string& path) {
  std::string head;
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return head; // what a pipe gives is gone once it is read
  }
  ByteSource source(path);
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    head += chunk;
    if (head.size() >= kHead) {
      break;
    }
  }
  return head;
}

ImportFormat detect_file(const std::string& path) {
  if (path == "-") {
    throw UsageError("import auto: give the format for standard input");
  }
  const std::string head = head_of(path);
  if (head.empty()) {
    throw InputError(path, "", "empty");
  }
  const DetectedFormat detected = detect_format(head);
  if (!detected.format) {
    throw InputError(path, "",
                     detected.advice.empty() ? "unknown format: name it, stepsim import FORMAT FILE"
                                             : detected.advice);
  }
  return *detected.format;
}

} // namespace stepsim::io
