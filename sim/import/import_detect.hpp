#pragma once
// `import auto`: which format a file has, from its first bytes (IO 1, 10).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::io {

enum class ImportFormat {
  kineto,
  nccl_tests,
  nccl_inspector,
  osu,
  nccl_topology,
  layer_table,
  caffe_log,
  pytorch_et,
  chakra,
  astra_text,
  hf_config
};

// "kineto", "nccl-tests", ...: the words of the command line.
[[nodiscard]] std::string_view name(ImportFormat format);
[[nodiscard]] std::optional<ImportFormat> parse_import_format(std::string_view word);
[[nodiscard]] std::vector<std::string_view> import_format_words();

// From the beginning of a file (a megabyte is plenty). Empty if unknown; `advice` then says what to
// export instead for formats that are recognised but not supported.
struct DetectedFormat {
  std::optional<ImportFormat> format;
  std::string advice;
};
[[nodiscard]] DetectedFormat detect_format(std::string_view head);

// For commands that read our files only: "this is a Kineto trace: stepsim import kineto FILE -o
// T.json".
[[nodiscard]] std::string import_first(ImportFormat format);

// The first bytes of a file (inflated), as many as formats are told apart by; none of a pipe.
// Throws InputError for a file that cannot be read.
[[nodiscard]] std::string head_of(const std::string& path);

// The format of a file. Throws InputError `x.bin: unknown format: ...` or with the advice of
// detect_format, and for a file that is empty, a pipe or cannot be read; UsageError for standard
// input, which cannot be read twice.
[[nodiscard]] ImportFormat detect_file(const std::string& path);

} // namespace stepsim::io
