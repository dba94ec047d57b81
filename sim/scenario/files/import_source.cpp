// Inputs are read once, front to back, through ByteSource, which inflates gzip and computes the
// digest of the bytes on disk as they pass, so that a pipe can be imported and the digest is that
// of what was read. Only base names of files are kept: paths hold user names and project names.

#include "scenario/files/import_source.hpp"

#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// A line of a log has a few hundred bytes. The limit keeps a gzip file without line ends, which
// inflates to anything, from filling the memory.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

layers::Source make_source(std::string_view format, const ImportOptions& options) {
  layers::Source source;
  source.format = format;
  source.importer = options.importer;
  source.attribution = options.attribution;
  source.licence = options.licence;
  return source;
}

layers::SourceFile source_file(const std::string& path, std::uint64_t bytes, std::string digest) {
  return {std::string(base_name(path)), static_cast<std::int64_t>(bytes), std::move(digest)};
}

// Endings are taken off in the order of this list, each at most once, so that "x.pt.trace.json.gz"
// becomes "x". A name that is nothing but an ending stays.
std::string stem_of(std::string_view path) {
  std::string_view name = path == "-" ? std::string_view("stdin") : base_name(path);
  for (const std::string_view ending :
       {".tgz", ".gz", ".tar", ".json", ".cost", ".samples", ".calibration", ".csv", ".tsv", ".log",
        ".txt", ".xml", ".et", ".trace", ".pt"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.remove_suffix(ending.size());
    }
  }
  return std::string(name);
}

std::string result_name(const ImportOptions& options, const std::string& first_file) {
  return options.name.empty() ? stem_of(first_file) : options.name;
}

ImportedText read_import(const std::string& path, std::uint64_t max_bytes) {
  ByteSource source(path, std::min(max_bytes, kMostTextBytes), true);
  ImportedText result;
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    result.text += chunk;
  }
  result.name = source.name();
  result.file = source_file(path, source.file_bytes(), source.digest());
  if (result.text.empty()) {
    throw InputError(result.name, "", "empty");
  }
  return result;
}

// The last line counts whether or not it ends with a line end; an empty text has no lines. Views
// point into `text`.
std::vector<TextLine> lines_of(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<TextLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back({std::ssize(lines) + 1, line});
  }
  return lines;
}

// Pieces of the input end anywhere, so that a line is put together from as many of them as it
// touches. `chunk_` keeps what stands behind the line end for the next call.
bool LineReader::next(TextLine& line) {
  line_.clear();
  bool found = false; // the end of a line
  while (!found && !ended_) {
    if (chunk_.empty()) {
      chunk_ = source_.next();
      ended_ = chunk_.empty();
    }
    const std::size_t end = chunk_.find('\n');
    found = end != std::string_view::npos;
    line_ += chunk_.substr(0, end);
    chunk_.remove_prefix(found ? end + 1 : chunk_.size());
    // Checked after every piece, so that at most one piece more than the limit is ever held.
    if (line_.size() > kLongestLine) {
      throw InputError(source_.name(), std::to_string(number_ + 1),
                       fmt::format("line longer than {} bytes", kLongestLine));
    }
  }
  if (!found && line_.empty()) {
    if (number_ == 0) {
      throw InputError(source_.name(), "", "empty");
    }
    return false;
  }
  std::string_view text = line_;
  if (++number_ == 1 && text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  line = {number_, text};
  return true;
}

void LineReader::fail(const std::string& message) const {
  throw InputError(source_.name(), std::to_string(number_), message);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// Where data came from, in the same form in every kind of file that is imported: format, files with
// digests, program and its options.

// Options may have values of any type; all are kept as text, because they are only shown.
layers::Source read_source(Fields& fields) {
  layers::Source source;
  source.format = fields.text("format");
  source.files = fields.each("files", [](Fields& file) {
    return layers::SourceFile{
        .name = file.text("name"), .bytes = file.integer("bytes"), .sha256 = file.text("sha256")};
  });
  source.importer = fields.text("importer");
  for (const auto& [key, value] : fields.members("options")) {
    source.options.emplace_back(key, value.is_string() ? value.as_string() : compact(value));
  }
  source.attribution = fields.optional_text("attribution");
  source.licence = fields.optional_text("licence");
  return source;
}

// Warnings of an import belong to the data: every run that uses the file repeats them.
std::vector<std::string> parse_warnings(Fields& fields) {
  return checked_texts(fields.array("warnings", false), fields.problems());
}

Json to_json(const layers::Source& source) {
  using layers::Source;
  using layers::SourceFile;
  Json json =
      tree_of<&Source::format, &Source::importer, &Source::attribution, &Source::licence>(source);
  json.set("files",
           write_each(source.files,
                      tree_of<&SourceFile::name, &SourceFile::bytes, &SourceFile::sha256>));
  Json options = Object{};
  for (const auto& [key, value] : source.options) {
    options.set(key, value);
  }
  json.set("options", std::move(options));
  return json;
}

void add_where(std::vector<std::string>& to,
               std::initializer_list<std::pair<bool, std::string>> sentences) {
  for (const auto& [is_true, sentence] : sentences) {
    if (is_true) {
      to.push_back(sentence);
    }
  }
}

} // namespace stepsim::io
