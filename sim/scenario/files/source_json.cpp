// Where data came from, in the same form in every kind of file that is imported: format, files with
// digests, program and its options.
#include "scenario/files/source_json.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"

#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io {

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

} // namespace stepsim::io
