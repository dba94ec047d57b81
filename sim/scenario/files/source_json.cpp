// Where data came from, in the same form in every kind of file that is imported: format, files with
// digests, program and its options.
#include "scenario/files/source_json.hpp"
#include "document/fields/written.hpp"
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
  if (const Json* options = fields.any("options"); options != nullptr && !options->is_null()) {
    if (!options->is_object()) {
      fields.problems().add(*options, "must be an object, got " + shown(*options));
    } else {
      for (const auto& [key, value] : options->as_object()) {
        source.options.emplace_back(key, value.is_string() ? value.as_string() : compact(value));
      }
    }
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
  Json json;
  json.set("format", source.format);
  json.set("files", write_each(source.files, [](const layers::SourceFile& file) {
             return Object{{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}};
           }));
  json.set("importer", source.importer);
  Json options = Object{};
  for (const auto& [key, value] : source.options) {
    options.set(key, value);
  }
  json.set("options", std::move(options));
  json.set("attribution", or_null(source.attribution));
  json.set("licence", or_null(source.licence));
  return json;
}

} // namespace stepsim::io
