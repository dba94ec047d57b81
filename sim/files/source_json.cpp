#include "files/source_json.hpp"
#include "json/json_text.hpp"

namespace stepsim::io {

train::Source parse_source(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::Source source;
  source.format = fields.string("format", "");
  for (const Json& entry : fields.array("files", false)) {
    Fields file(entry, problems);
    source.files.push_back({.name = file.string("name"),
                            .bytes = file.integer("bytes", at_least(0), 0),
                            .sha256 = file.string("sha256", "")});
    file.no_more();
  }
  source.importer = fields.string("importer", "");
  if (const Json* options = fields.any("options"); options != nullptr && !options->is_null()) {
    if (!options->is_object()) {
      problems.add(*options, "must be an object, got " + shown(*options));
    } else {
      for (const auto& [key, value] : options->as_object()) {
        source.options.emplace_back(key, value.is_string() ? value.as_string() : compact(value));
      }
    }
  }
  for (const auto& [key, target] :
       {std::pair{"attribution", &source.attribution}, std::pair{"licence", &source.licence}}) {
    if (fields.has(key)) {
      *target = fields.string(key);
    } else {
      (void)fields.any(key);
    }
  }
  fields.no_more();
  return source;
}

Json to_json(const train::Source& source) {
  Json json;
  json.set("format", source.format);
  Array files;
  for (const train::SourceFile& file : source.files) {
    Json entry;
    entry.set("name", file.name);
    entry.set("bytes", file.bytes);
    entry.set("sha256", file.sha256);
    files.push_back(std::move(entry));
  }
  json.set("files", std::move(files));
  json.set("importer", source.importer);
  Json options = Object{};
  for (const auto& [key, value] : source.options) {
    options.set(key, value);
  }
  json.set("options", std::move(options));
  json.set("attribution", source.attribution ? Json(*source.attribution) : Json());
  json.set("licence", source.licence ? Json(*source.licence) : Json());
  return json;
}

} // namespace stepsim::io
