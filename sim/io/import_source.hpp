#pragma once
// The `source` of an imported file (IO 2): what was read and by whom, without any private data.
#include <string>
#include <string_view>

#include "io/import_options.hpp"

namespace stepsim::io {

[[nodiscard]] train::Source make_source(std::string_view format, const ImportOptions& options);

// Base name, size and digest of one input.
[[nodiscard]] train::SourceFile source_file(const std::string& path, std::uint64_t bytes,
                                            std::string digest);

// "a/b/rank0.pt.trace.json.gz" -> "rank0"; used to name results.
[[nodiscard]] std::string stem_of(std::string_view path);

// `options.name`, else the stem of the first file.
[[nodiscard]] std::string result_name(const ImportOptions& options, const std::string& first_file);

} // namespace stepsim::io
