#include "scenario/scenario_library.hpp"

#include "scenario/keys/library_model_keys.hpp"

namespace stepsim::study {

namespace {

// Words that are none are problems with the nearest known one.
template <class Enum, std::size_t N>
std::vector<Enum> words_of(io::Fields& fields, std::string_view key, std::string_view noun,
                           const base::Words<Enum, N>& words) {
  std::vector<Enum> out;
  for (const io::Json& json : fields.list(key)) {
    const auto found = json.is_string() ? words.find(json.as_string()) : std::nullopt;
    if (found) {
      out.push_back(*found);
    } else {
      fields.problems().add(json, json.is_string()
                                      ? base::unknown_word(noun, json.as_string(), words.all())
                                      : "must be a word, got " + io::shown(json));
    }
  }
  return out;
}

void read_version(io::Fields& fields, LibrarySettings& settings) {
  if (const auto version = fields.optional_text("version")) {
    try {
      settings.options.version = nccl::parse_version(*version);
    } catch (const UsageError& error) {
      fields.refuse("version", error.what());
    }
  }
}

void read_calibration(io::Fields& fields, const ParseContext& context, LibrarySettings& settings) {
  const io::Json* json = fields.any("calibration");
  if (json == nullptr || json->is_null()) {
    return;
  }
  if (!json->is_string() && !json->is_object()) {
    context.problems.add(*json, "must be a file or an object, got " + io::shown(*json));
    return;
  }
  settings.calibration_written = *json;
  settings.calibration = context.files.library_calibration(*json);
}

} // namespace

LibrarySettings read_library(const io::Json& json, const ParseContext& context) {
  LibrarySettings settings;
  if (json.is_string()) {
    constexpr std::span<const std::string_view> kNames = io::keys::kLibraryNames;
    if (json.as_string() != kNames.front()) {
      context.problems.add(json, base::unknown_word("library", json.as_string(), kNames));
    }
    return settings;
  }
  io::Fields fields(json, context.problems, keys::kLibraryKey);
  (void)fields.word("name");
  read_version(fields, settings);
  settings.options.choice = fields.optional_word("choice", nccl::kChoices);
  settings.options.residual = fields.optional_word("residual", nccl::kResiduals);
  read_calibration(fields, context, settings);
  settings.options.algorithms =
      words_of(fields, "algorithms", "algorithm of the library", keys::kLibraryAlgorithms);
  settings.options.protocols =
      words_of(fields, "protocols", "protocol of the library", nccl::kProtocols);
  settings.options.ll128 = fields.boolean("ll128");
  settings.options.collnet = fields.boolean("collnet");
  fields.no_more();
  return settings;
}

// A calibration of another node type gives its factors and nothing else: the model warns where the
// generations differ.
std::optional<NodeSource> node_source(const io::Json* preset, const LibrarySettings& settings,
                                      const ParseContext& context) {
  const auto& calibration = settings.calibration;
  const nccl::Multipliers* factors = calibration != nullptr ? &calibration->multipliers : nullptr;
  if (preset != nullptr && !preset->is_null()) {
    if (!preset->is_string()) {
      context.problems.add(*preset, "must be a name or a file, got " + io::shown(*preset));
      return std::nullopt;
    }
    const io::NodePreset& found = context.files.node(*preset);
    NodeSource source{found.node, nccl::node_links(found.node, factors), preset->as_string(),
                      found.gpu};
    const auto price =
        std::ranges::find(found.numbers, "price_per_gpu_hour", &io::SourcedNumber::key);
    const auto memory =
        std::ranges::find(found.numbers, "gpu_memory_bytes", &io::SourcedNumber::key);
    if (memory != found.numbers.end()) {
      source.gpu_memory_bytes = memory->value;
    }
    if (price != found.numbers.end()) {
      source.price_per_gpu_hour = price->value;
      source.price_source = price->label + "; " + price->source;
    }
    return source;
  }
  if (calibration == nullptr) {
    return std::nullopt;
  }
  const nccl::NodeType& type = calibration->fitted.node;
  return NodeSource{type, nccl::node_links(type, factors), ""};
}

std::optional<std::string> library_problem(const nccl::LibraryQuestion& question) {
  try {
    nccl::refuse_impossible(question);
    return std::nullopt;
  } catch (const UsageError& error) {
    return error.what();
  }
}

} // namespace stepsim::study
