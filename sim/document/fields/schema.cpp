// Rows become schemas one by one. A number with a unit has two forms, the number and its text with
// a unit; which units there are follows from the key's name, as for the reader.
#include "document/fields/schema.hpp"

#include <cmath>

#include "document/fields/written.hpp"
#include "document/json_text.hpp"
#include "document/reader.hpp"

namespace stepsim::io {

namespace {

// A number as JSON has it: 16 and not 16.0.
Json json_number(double value) {
  constexpr double kWhole = 0x1p53;
  return value == std::floor(value) && std::abs(value) <= kWhole
             ? Json(static_cast<std::int64_t>(value))
             : Json(value);
}

Json json_of(const KeyDefault& value, KeyKind kind) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag;
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return json_number(*number);
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    const bool structure = kind == KeyKind::object || kind == KeyKind::list;
    return structure ? parse_json(*text, "") : Json(*text);
  }
  return {};
}

// The regular expression of a text with a unit of this kind.
std::string pattern(base::QuantityKind kind) {
  const std::string units = base::listed(base::units(kind), {}, "|");
  return R"(^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *()" + units + ")$";
}

void add_range(Json& schema, const Range& range) {
  if (std::isfinite(range.low)) {
    schema.set(range.open_low ? "exclusiveMinimum" : "minimum", json_number(range.low));
  }
  if (std::isfinite(range.high)) {
    schema.set(range.open_high ? "exclusiveMaximum" : "maximum", json_number(range.high));
  }
}

Json type_of(std::string_view type, bool nullable) {
  return nullable ? Json(Array{type, "null"}) : Json(type);
}

template <class Values> void add_enum(Json& schema, const Key& key, const Values& choices) {
  Array values(choices.begin(), choices.end());
  if (key.is_nullable) {
    values.emplace_back(); // null
  }
  schema.set("enum", std::move(values));
}

void add_number(Json& schema, const Key& key) {
  const bool integer = key.kind == KeyKind::integer;
  if (!key.choices.empty()) {
    add_enum(schema, key, key.choices);
    return;
  }
  Json number{Object{{"type", type_of(integer ? "integer" : "number", key.is_nullable)}}};
  add_range(number, key.range);
  if (const PairKinds* pair = pair_kinds(key.name)) {
    Array forms{std::move(number)};
    for (const base::QuantityKind kind : {pair->first, pair->second}) {
      forms.push_back(Object{{"type", "string"}, {"pattern", pattern(kind)}});
    }
    schema.set("anyOf", std::move(forms));
    return;
  }
  const auto kind = kind_of_place("/" + std::string(key.name));
  const bool text = key.has_unit && kind && !(integer && *kind == base::QuantityKind::ratio);
  if (text) {
    schema.set("oneOf",
               Array{std::move(number), Object{{"type", "string"}, {"pattern", pattern(*kind)}}});
    return;
  }
  for (auto& [name, value] : number.as_object()) {
    schema.set(name, std::move(value));
  }
}

// "a,b|c" -> [{"required": ["a", "b"]}, {"required": ["c"]}]
Array required_groups(std::string_view groups) {
  Array all;
  while (!groups.empty()) {
    std::string_view group = groups.substr(0, groups.find('|'));
    groups.remove_prefix(std::min(groups.size(), group.size() + 1));
    Array names;
    while (!group.empty()) {
      const std::string_view name = group.substr(0, group.find(','));
      group.remove_prefix(std::min(group.size(), name.size() + 1));
      names.emplace_back(name);
    }
    all.push_back(Object{{"required", std::move(names)}});
  }
  return all;
}

// `whole`: required keys must be there; otherwise the object is a part of what its row describes.
enum class Extent { whole, part };

Json schema_of(const Key& key, Extent extent);

void add_object(Json& schema, const Key& key, Extent extent) {
  schema.set("type", type_of("object", key.is_nullable));
  Json properties{Object{}};
  Array required;
  for (const Key* each : keys_of(key)) {
    properties.set(each->name, schema_of(*each, extent));
    if (each->is_required) {
      required.emplace_back(each->name);
    }
  }
  set_if(!properties.as_object().empty(), schema, "properties", std::move(properties));
  set_if(!key.is_open, schema, "additionalProperties", false);
  if (extent == Extent::part) {
    return;
  }
  set_if(!required.empty(), schema, "required", std::move(required));
  set_if(!key.exactly_one_of.empty(), schema, "oneOf", required_groups(key.exactly_one_of));
  set_if(!key.at_least_one_of.empty(), schema, "anyOf", required_groups(key.at_least_one_of));
}

// How many elements or members there may be.
void add_sizes(Json& schema, const Key& key, const std::string& what) {
  set_if(key.least > 0, schema, "min" + what, key.least);
  set_if(key.most > 0, schema, "max" + what, key.most);
}

void add_list(Json& schema, const Key& key, Extent extent) {
  schema.set("type", type_of("array", key.is_nullable));
  schema.set("items", schema_of(key.keys.front(), extent));
  add_sizes(schema, key, "Items");
}

void add_map(Json& schema, const Key& key, Extent extent) {
  schema.set("type", type_of("object", key.is_nullable));
  schema.set("additionalProperties", schema_of(key.keys.front(), extent));
  if (const auto names = key.words.all(); !names.empty()) {
    schema.set("propertyNames", Object{{"enum", Array(names.begin(), names.end())}});
  } else if (!key.name_pattern.empty()) {
    schema.set("propertyNames", Object{{"pattern", key.name_pattern}});
  }
  add_sizes(schema, key, "Properties");
}

// Every form, and null as one more where the key as a whole may be null.
Array forms_of(const Key& key, Extent extent) {
  Array forms =
      base::collected<Json>(key.keys, [&](const Key& form) { return schema_of(form, extent); });
  if (key.is_nullable && extent == Extent::whole) {
    forms.push_back(Object{{"type", "null"}});
  }
  return forms;
}

void add_values(Json& schema, const Key& key, Extent extent) {
  switch (key.kind) {
  case KeyKind::number:
  case KeyKind::integer:
    add_number(schema, key);
    break;
  case KeyKind::boolean:
    schema.set("type", type_of("boolean", key.is_nullable));
    break;
  case KeyKind::text:
    schema.set("type", type_of("string", key.is_nullable));
    break;
  case KeyKind::word:
    add_enum(schema, key, key.words.all());
    break;
  case KeyKind::object:
    add_object(schema, key, extent);
    break;
  case KeyKind::list:
    add_list(schema, key, extent);
    break;
  case KeyKind::map:
    add_map(schema, key, extent);
    break;
  case KeyKind::either:
    schema.set("anyOf", forms_of(key, extent));
    break;
  case KeyKind::any:
    break;
  }
}

Json schema_of(const Key& given, Extent around) {
  const Extent extent = given.is_partial ? Extent::part : around;
  Key key = given;
  key.is_nullable = given.is_nullable || extent == Extent::part;
  Json schema{Object{{"description", key.sentence}}};
  add_values(schema, key, extent);
  const Json fallback = json_of(key.fallback, key.kind);
  set_given(schema, "default", fallback);
  if (!key.example_json.empty()) {
    schema.set("examples", Array{parse_json(key.example_json, "")});
  } else if (!fallback.is_null()) {
    schema.set("examples", Array{fallback});
  } else if (key.kind == KeyKind::word) {
    schema.set("examples", Array{key.words.all().front()});
  }
  return schema;
}

// The properties that every file of ours has.
Json header_of(std::string_view kind, const std::string& schema_name) {
  Json properties{Object{}};
  for (const Key& key : kHeaderKeys) {
    properties.set(key.name, schema_of(key, Extent::whole));
  }
  properties.find("$schema")->set("examples", Array{"../schemas/" + schema_name});
  properties.set(
      "kind",
      Object{{"const", kind}, {"description", "Kind of the file."}, {"examples", Array{kind}}});
  return properties;
}

} // namespace

Json schema(const FileKind& file) {
  const std::string name = std::string(file.kind) + ".schema.json";
  Json root{Object{
      {"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", name}, {"title", file.kind}}};
  const Json body = schema_of(*file.root, Extent::whole);
  for (const auto& [key, value] : body.as_object()) {
    root.set(key, value);
  }
  Json properties = file.has_header ? header_of(file.kind, name) : Json(Object{});
  if (const Json* own = body.find("properties")) { // else the file has several forms
    for (const auto& [key, value] : own->as_object()) {
      if (key != "kind" || !file.has_header) { // a row says only that the kind is required
        properties.set(key, value);
      }
    }
    root.set("properties", std::move(properties));
  }
  Array examples = base::collected<Json>(
      file.examples, [](std::string_view text) { return parse_json(text, ""); });
  root.set("examples", std::move(examples));
  return root;
}

Json defaults_of(const Key& object) {
  Json defaults{Object{}};
  for (const Key* key : keys_of(object)) {
    Json value = json_of(key->fallback, key->kind);
    const Key& form = key->kind == KeyKind::either ? key->keys.front() : *key;
    if (value.is_null() && form.kind == KeyKind::object) {
      value = defaults_of(form);
    }
    set_given(defaults, key->name, value);
  }
  return defaults;
}

} // namespace stepsim::io
