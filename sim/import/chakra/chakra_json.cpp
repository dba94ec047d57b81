// Keys are looked up in every spelling that is in use; 64-bit numbers may be texts of digits, which
// is how protocol buffers write them as JSON.
#include "import/chakra/chakra_nodes.hpp"

#include <initializer_list>

#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

// The place behind the object or list that begins at `begin`; the end of the text if it has none.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool in_text = false;
  bool escaped = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      in_text = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      return i + 1;
    }
  }
  return text.size();
}

// Objects one behind the other become one list: a comma goes between them, so that lines stay. One
// value stays as it is.
std::string joined_objects(std::string text) {
  std::size_t end = end_of_value(text, 0);
  if (const std::size_t other = text.find_first_not_of("}\n\r\t ", end);
      other == std::string::npos || text[other] != '{') {
    return text;
  }
  std::string list = "[" + text.substr(0, end);
  while (end < text.size()) {
    const std::size_t begin = std::min(text.find_first_of("{[", end), text.size());
    list.append(text, end, begin - end);
    end = end_of_value(text, begin);
    if (begin < text.size()) {
      list.append(",").append(text, begin, end - begin);
    }
  }
  return list + "]";
}

const Json* find_any(const Json& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const Json* found = object.find(key)) {
      return found;
    }
  }
  return nullptr;
}

[[noreturn]] void fail_at(const Json& place, const std::string& message) {
  throw InputError(std::string(place.file()), place.pointer(), message);
}

// A value that `set` refuses is wrong at its place.
template <class Set> void set_at(const Json& place, const Set& set) {
  try {
    set();
  } catch (const ChakraProblem& problem) {
    fail_at(place, problem.message);
  }
}

// Empty for what is no number.
std::optional<double> number_in(const Json& value) {
  if (value.is_number()) {
    return value.as_double();
  }
  if (value.is_bool()) {
    return value.as_bool() ? 1 : 0;
  }
  return value.is_string() ? parse_real(value.as_string()) : std::nullopt;
}

double required_number(const Json& value) {
  const auto number = number_in(value);
  if (!number) {
    fail_at(value, "must be a number");
  }
  return *number;
}

std::uint64_t id_in(const Json& value) {
  if (value.is_integer() && value.as_integer() >= 0) {
    return static_cast<std::uint64_t>(value.as_integer());
  }
  const auto number =
      value.is_string() ? parse_number<std::uint64_t>(value.as_string()) : std::nullopt;
  if (!number) {
    fail_at(value, "must be the number of a node");
  }
  return *number;
}

// A number, or the name of the enumerator.
std::uint64_t type_in(const Json& value) {
  constexpr std::array<std::string_view, 8> kTypes{
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  if (value.is_string()) {
    if (const auto word = std::ranges::find(kTypes, value.as_string()); word != kTypes.end()) {
      return static_cast<std::uint64_t>(word - kTypes.begin());
    }
  }
  const auto number = number_in(value);
  return number && *number >= 0 && *number < 1e6 ? static_cast<std::uint64_t>(*number) : 0;
}

void set_value(ChakraNode& node, std::string_view name, const Json& value) {
  ChakraValue found{number_in(value).value_or(0), {}};
  if (value.is_string()) {
    found.text = value.as_string();
  }
  set_at(value, [&] { set_attribute(node, name, found, ChakraSchema::current); });
}

// {"name": "comm_size", "int64Val": "8196000"}: the value is under any key but the two others.
void read_attributes(ChakraNode& node, const Json& list) {
  if (!list.is_array()) {
    fail_at(list, "must be a list");
  }
  for (const Json& each : list.as_array()) {
    const Json* name = each.find("name");
    if (name == nullptr || !name->is_string()) {
      continue;
    }
    for (const auto& [key, value] : each.is_object() ? each.as_object() : Object{}) {
      if (key != "name" && key != "docString" && key != "doc_string") {
        set_value(node, name->as_string(), value);
      }
    }
  }
}

ChakraNode read_node(const Json& json) {
  ChakraNode node;
  if (!json.is_object()) {
    fail_at(json, "must be an object");
  }
  if (const Json* id = find_any(json, {"Id", "id"})) {
    node.id = id_in(*id);
  }
  if (const Json* type = find_any(json, {"NodeType", "type", "node_type"})) {
    set_type(node, type_in(*type), ChakraSchema::current);
  }
  if (const Json* name = find_any(json, {"Name", "name"}); name != nullptr && name->is_string()) {
    set_name(node, name->as_string());
  }
  for (const std::string_view key : {"is_cpu_op", "comm_type", "comm_size", "pg_name"}) {
    if (const Json* value = json.find(key)) {
      set_value(node, key, *value);
    }
  }
  if (const Json* attributes = find_any(json, {"attr", "attrs"})) {
    read_attributes(node, *attributes);
  }
  if (const Json* time = find_any(json, {"runtime", "durationMicros", "duration_micros"})) {
    set_at(json, [&] { set_duration(node, required_number(*time)); });
  }
  if (const Json* time = find_any(json, {"startTimeMicros", "start_time_micros"})) {
    set_at(json, [&] { set_start(node, required_number(*time)); });
  }
  if (const Json* list = find_any(json, {"data_deps", "dataDeps"})) {
    for (const Json& id : list->is_array() ? list->as_array() : Array{}) {
      node.after.push_back(id_in(id));
    }
  }
  if (const Json* inputs = json.find("inputs")) {
    if (const Json* types = inputs->find("types"); types != nullptr && types->is_string()) {
      set_types(node, types->as_string());
    }
  }
  complete(node);
  return node;
}

} // namespace

bool looks_like_json(std::string_view behind_bracket) {
  const std::size_t begin = behind_bracket.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return false;
  }
  const std::string_view text = behind_bracket.substr(begin);
  return text[0] == '{' || text[0] == '}' || text[0] == ']' ||
         (text[0] == '"' && text.size() > 1 && static_cast<unsigned char>(text[1]) >= ' ');
}

ChakraFile read_chakra_json(ByteSource& source, std::string_view first) {
  ChakraFile file;
  file.name = source.name();
  std::string text(first);
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    text += chunk;
    if (text.size() > kMostTextBytes) {
      throw InputError(file.name, "",
                       fmt::format("JSON larger than {} bytes: give the trace as protocol buffers "
                                   "(.et)",
                                   kMostTextBytes));
    }
  }
  file.source = source_file(file.name, source.file_bytes(), source.digest());
  const Json root = parse_json(joined_objects(std::move(text)), file.name);
  const Json* list = root.is_array() ? &root : find_any(root, {"workload_graph"});
  if (list == nullptr || !list->is_array()) {
    throw InputError(file.name, "", "no workload_graph: not an execution trace of Chakra");
  }
  if (const Json* ranks = root.find("ngpus");
      ranks != nullptr && ranks->is_integer() && ranks->as_integer() > 0) {
    file.ranks = ranks->as_integer();
  }
  for (const Json& each : list->as_array()) {
    // Metadata of chakra_jsonizer has attributes alone.
    const bool metadata =
        root.is_array() && find_any(each, {"id", "Id", "type", "name"}) == nullptr;
    if (!metadata) {
      file.nodes.push_back(read_node(each));
    }
  }
  return file;
}

} // namespace stepsim::io
