#include "io/import_source.hpp"

namespace stepsim::io {

namespace {

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

train::Source make_source(std::string_view format, const ImportOptions& options) {
  train::Source source;
  source.format = format;
  source.importer = options.importer;
  source.attribution = options.attribution;
  source.licence = options.licence;
  return source;
}

train::SourceFile source_file(const std::string& path, std::uint64_t bytes, std::string digest) {
  return {std::string(base_name(path)), static_cast<std::int64_t>(bytes), std::move(digest)};
}

std::string stem_of(std::string_view path) {
  std::string_view name = path == "-" ? std::string_view("stdin") : base_name(path);
  for (const std::string_view ending :
       {".gz", ".json", ".csv", ".tsv", ".log", ".txt", ".trace", ".pt"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.remove_suffix(ending.size());
    }
  }
  return std::string(name);
}

std::string result_name(const ImportOptions& options, const std::string& first_file) {
  return options.name.empty() ? stem_of(first_file) : options.name;
}

} // namespace stepsim::io
