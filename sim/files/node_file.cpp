#include "files/node_file.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "files/keys/node_keys.hpp"
#include "json/json_parse.hpp"

namespace stepsim::io {

namespace {

// A number, or an object with its value, label and source. Empty after a problem, and where the key
// is absent, which is a problem where its row says "required".
std::optional<double> sourced(Fields& parent, std::string_view key,
                              std::vector<SourcedNumber>& numbers) {
  const Json* json = parent.any(key);
  const Key& row = parent.row(key);
  if (json == nullptr || json->is_null()) {
    if (row.is_required) {
      parent.problems().add(parent.json(), key, "required");
    }
    return std::nullopt;
  }
  const Key& plain = row.keys.front();
  SourcedNumber number;
  number.key = key;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  if (json->is_object()) {
    Fields fields(*json, parent.problems(), row);
    value = plain.kind == KeyKind::integer ? static_cast<double>(fields.integer("value"))
                                           : fields.number("value");
    if (plain.kind == KeyKind::number) {
      low = fields.optional_number("low");
      high = fields.optional_number("high");
      if (low.value_or(*value) > *value || high.value_or(*value) < *value) {
        fields.problems().add(*json, "value must lie between low and high");
      }
    }
    number.label = fields.word("label");
    number.source = fields.text("source");
    fields.no_more();
  } else if (plain.kind == KeyKind::integer) {
    const auto whole = checked_integer(*json, plain.range, parent.problems());
    value = whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
  } else {
    value = checked_number(*json, plain.range, parent.problems());
  }
  number.value = value.value_or(0);
  number.low = low.value_or(number.value);
  number.high = high.value_or(number.value);
  numbers.push_back(std::move(number));
  return value;
}

std::uint32_t counted_number(Fields& fields, std::string_view key,
                             std::vector<SourcedNumber>& numbers) {
  return static_cast<std::uint32_t>(sourced(fields, key, numbers).value_or(1));
}

} // namespace

library::NodeType read_node_type(Fields& fields, std::vector<SourcedNumber>& numbers) {
  library::NodeType node;
  node.gpus = counted_number(fields, "gpus_per_node", numbers);
  node.link = fields.word("link", library::kInnerLinks);
  node.ring_Bps = sourced(fields, "ring_Bps", numbers).value_or(1);
  node.nics = counted_number(fields, "nics_per_node", numbers);
  node.nic_Bps = sourced(fields, "nic_Bps", numbers).value_or(1);
  node.generation = fields.word("generation", library::kGenerations);
  node.host = fields.word("host", library::kHosts);
  node.in_switch_reduction = fields.boolean("in_switch_reduction");
  node.ll128 = fields.boolean("ll128");
  node.domain_nodes = counted_number(fields, "nvlink_domain_nodes", numbers);
  node.approximate = fields.boolean("approximate");
  return node;
}

void write_node_type(const library::NodeType& node, Json& object) {
  object.set("gpus_per_node", static_cast<std::int64_t>(node.gpus));
  object.set("link", library::kInnerLinks[node.link]);
  object.set("ring_Bps", node.ring_Bps);
  object.set("nics_per_node", static_cast<std::int64_t>(node.nics));
  object.set("nic_Bps", node.nic_Bps);
  object.set("generation", library::kGenerations[node.generation]);
  object.set("host", library::kHosts[node.host]);
  object.set("in_switch_reduction", node.in_switch_reduction);
  object.set("ll128", node.ll128);
  object.set("nvlink_domain_nodes", static_cast<std::int64_t>(node.domain_nodes));
  object.set("approximate", node.approximate);
}

std::map<std::string, std::string> shipped_node_presets(const std::string& data_folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  if (data_folder.empty()) {
    return files;
  }
  const fs::path folder = fs::path(data_folder) / "topologies" / "nodes";
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == ".json") {
      files.emplace(entry->path().stem().string(), entry->path().string());
    }
  }
  if (error) {
    throw InputError(folder.string(), "",
                     "cannot read the folder of the node types that come with the program: " +
                         error.message());
  }
  return files;
}

std::string shipped_node_preset(const std::string& data_folder, const std::string& name) {
  const std::map<std::string, std::string> files = shipped_node_presets(data_folder);
  if (const auto found = files.find(name); found != files.end()) {
    return found->second;
  }
  std::vector<std::string_view> known;
  for (const auto& [each, path] : files) {
    known.push_back(each);
  }
  throw UsageError(base::unknown_word("node type", name, known));
}

NodePreset read_node_preset(const std::string& data_folder, const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
  return parse_node_preset(read_json(is_path ? name : shipped_node_preset(data_folder, name)));
}

NodePreset parse_node_preset(const Json& json) {
  Problems problems;
  Fields fields(json, problems, keys::kNodePreset);
  fields.header(keys::kNodePreset.name);
  NodePreset preset;
  preset.node = read_node_type(fields, preset.numbers);
  preset.node.name = fields.text("name");
  preset.label = fields.word("label");
  preset.note = fields.text("note");
  preset.gpu = fields.text("gpu");
  preset.link_nominal_Bps = sourced(fields, "link_nominal_Bps", preset.numbers);
  preset.nic_nominal_Bps = sourced(fields, "nic_nominal_Bps", preset.numbers);
  fields.no_more();
  problems.throw_if_any();
  return preset;
}

} // namespace stepsim::io
