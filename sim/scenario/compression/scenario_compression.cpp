// /communication/compression from io's tree (SPA 1, 11, 14; PIP 6, 16).
#include "scenario/compression/scenario_compression.hpp"

#include "scenario/compression/compression_words.hpp"
#include "scenario/keys/compression_keys.hpp"

namespace stepsim::study {

namespace {

using collectives::CompressCosts;
using collectives::CompressionKind;
using collectives::CompressionMethod;
using collectives::CompressionRow;

// Whether every cost is 0; the form says nothing then.
bool is_free(const CompressCosts& costs) {
  CompressCosts linear = costs;
  linear.n_log_n = false;
  return linear == CompressCosts{};
}

// Values of the file override those of the profile one by one.
CompressCosts parse_costs(io::Fields& fields, const ParseContext& context,
                          const CompressCosts& defaults) {
  CompressCosts costs = defaults;
  fields.object("costs", [&](io::Fields& inner) {
    costs.n_log_n = inner.word_or("form", links::kSelectForms[defaults.n_log_n ? 1 : 0]) ==
                    links::kSelectForms[1];
    const std::string where = "form " + std::string(links::kSelectForms[costs.n_log_n ? 1 : 0]);
    for (const auto& [key, value] : kCostKeys) {
      costs.*value = inner.number_or(key, defaults.*value);
      context.needs_meaning(inner, key, in_form(key, costs.n_log_n), where);
    }
  });
  return costs;
}

// Words name published lists: DGC falls from 0.25 by factors of four, the tuned one has a single
// epoch.
std::vector<double> parse_warmup(io::Fields& fields, const ParseContext& context) {
  const io::Json* json = fields.any("density_warmup");
  if (json != nullptr && json->is_string()) {
    const bool dgc = fields.word("density_warmup", keys::kDensityWarmups, 0) == 0;
    return dgc ? std::vector<double>{0.25, 0.0625, 0.015625, 0.004} : std::vector<double>{0.004};
  }
  std::vector<double> densities;
  if (json != nullptr && json->is_array() && json->as_array().empty()) {
    context.problems.add(*json, "needs at least one density");
  }
  for (const io::Json& each : fields.array("density_warmup", false)) {
    const io::Range range = keys::kDensity.front().range;
    if (const auto density = io::checked_number(each, range, context.problems)) {
      densities.push_back(*density);
    }
  }
  return densities;
}

// fp16 sends values of 2 bytes, so in training, where the gradient's type says how large its own
// values are, nothing is left to choose.
void parse_value_bytes(io::Fields& fields, const CompressionRow& row, const CompressionUse& use,
                       Compression& out) {
  const bool half = row.method == CompressionMethod::fp16 && use.elements;
  out.value_bytes = fields.integer_or("value_bytes", half ? 2 : 4);
  fields.refuse_if(half && out.value_bytes != 2, "value_bytes",
                   "must be 2: fp16 sends values of 2 bytes, got " +
                       std::to_string(out.value_bytes));
}

// Elements of the whole gradient, where they are known and whole.
std::optional<std::int64_t> elements_of(io::Fields& fields, const Compression& out,
                                        const CompressionUse& use) {
  if (use.elements || !use.gradient_bytes) {
    return use.elements;
  }
  const std::int64_t bytes = *use.gradient_bytes;
  if (bytes % out.value_bytes != 0) {
    fields.problems().refuse(fields.json(), "{} bytes is not a whole number of {}-byte values",
                             bytes, out.value_bytes);
    return std::nullopt;
  }
  return bytes / out.value_bytes;
}

void parse_selection(io::Fields& fields, const ParseContext& context, Compression& out) {
  out.k = fields.optional_integer("k", io::Range{});
  out.density_warmup = parse_warmup(fields, context);
  out.iterations_per_epoch = fields.optional_integer("iterations_per_epoch").value_or(0);
}

// What goes together in a sparse method, and how many entries there can be.
void check_selection(io::Fields& fields, const ParseContext& context, const CompressionUse& use,
                     const Compression& out) {
  const auto elements = elements_of(fields, out, use);
  if (fields.has(io::key_of<&Compression::density>()) == fields.has("k")) {
    context.problems.add(fields.json(), "give exactly one of density and k");
  }
  const std::int64_t most = elements.value_or(std::numeric_limits<std::int64_t>::max());
  if (out.k && (*out.k < 1 || *out.k > most)) {
    const std::string range = elements ? fmt::format("in [1, {}]", most) : std::string(">= 1");
    fields.refuse("k", "must be " + range + ", got " + std::to_string(*out.k));
  }
  fields.refuse_if(fields.has("k") && use.schedule != buckets::Schedule::single, "k",
                   "k is only defined for schedule single; use density");
  constexpr std::int64_t kLargestIndexed = std::int64_t{1} << 32;
  if (elements && *elements > kLargestIndexed && out.index_bytes <= 4) {
    fields.refuse("index_bytes", std::to_string(*elements) + " elements need index_bytes 8");
  }
  fields.refuse_if(!out.density_warmup.empty() && !fields.has("iterations_per_epoch"),
                   "iterations_per_epoch", "required by density_warmup");
  if (fields.has("iterations_per_epoch") && out.density_warmup.empty()) {
    context.needs_meaning(fields, "iterations_per_epoch", false, "a constant density");
  }
  fields.refuse_if(!out.density_warmup.empty() && fields.has("k"), "density_warmup",
                   "needs density, not k");
}

void parse_own_keys(io::Fields& fields, Compression& out) {
  io::read_members(kOwnMembers, fields, out);
  out.custom.name = fields.optional_text("name").value_or("");
  out.custom.compress_s = read_formula(fields, "compress_s");
  out.custom.merge_s = read_formula(fields, "merge_s");
  out.custom.decompress_s = read_formula(fields, "decompress_s");
}

// The keys that have a meaning for a method, and the others.
// Both halves keep the place of the object in its file, so that problems point there.
std::pair<io::Json, io::Json> split_keys(const io::Json& json, const CompressionRow& row) {
  std::pair<io::Json, io::Json> parts{io::Object{}, io::Object{}};
  for (const auto& [key, value] : json.as_object()) {
    const bool own = key == "method" || collectives::has_key(row, key);
    (own ? parts.first : parts.second).set(key, value);
  }
  parts.first.set_origin(json.file_pointer(), json.pointer(), json.line());
  parts.second.set_origin(json.file_pointer(), json.pointer(), json.line());
  return parts;
}

// Each key has its default here, also those of other methods: they have no effect.
Compression read_values(io::Fields& fields, const ParseContext& context, const CompressionRow& row,
                        const CompressCosts& defaults, const CompressionUse& use) {
  Compression out;
  out.method = row.method;
  read_exchange(fields, out);
  out.ratio = fields.number_or("ratio", collectives::codec_ratio(row.method, use.bytes_per_value));
  parse_value_bytes(fields, row, use, out);
  out.costs = parse_costs(fields, context, defaults);
  parse_selection(fields, context, out);
  parse_own_keys(fields, out);
  return out;
}

// What only the number of ranks or the training algorithm forbids.
void check_ranks(io::Fields& fields, const CompressionUse& use, const CompressionRow& row,
                 const Compression& compression) {
  if (use.ranks && collectives::has_key(row, "allgather") &&
      compression.allgather == collectives::SparseAllgather::recursive_doubling &&
      !std::has_single_bit(static_cast<std::uint64_t>(*use.ranks))) {
    fields.refuse("allgather", "recursive_doubling needs a power-of-two rank count, got " +
                                   std::to_string(*use.ranks) + "; use bruck, ring or auto");
  }
  fields.refuse_if(row.method == CompressionMethod::hierarchical_topk && use.ranks &&
                       (use.gpus_per_node < 2 || *use.ranks < 2 * use.gpus_per_node),
                   "method", "hierarchical_topk needs at least 2 nodes and 2 GPUs per node");
  const bool gathered = row.kind == CompressionKind::sparse || row.kind == CompressionKind::encoded;
  if (!gathered || use.algorithm == TrainingAlgorithm::sync_sgd) {
    return;
  }
  if (!applies_late(use.algorithm)) {
    fields.refuse("method", "compression " + std::string(row.name) +
                                " needs training algorithm sync_sgd, pipe_sgd or od_sgd");
    return;
  }
  const auto refuse_if = [&](bool is_wrong, std::string_view key, std::string_view what) {
    fields.refuse_if(is_wrong, key, "{} is not defined for training algorithm {}", what,
                     kTrainingAlgorithms[use.algorithm]);
  };
  refuse_if(!compression.density_warmup.empty(), "density_warmup", "a density_warmup");
  refuse_if(row.method == CompressionMethod::ok_topk && compression.dense_warmup_iterations > 0,
            "dense_warmup_iterations", "dense_warmup_iterations above 0");
  refuse_if(compression.select_stream == collectives::SelectStream::side, "select_stream", "side");
}

// The row of the method; null after a problem.
const CompressionRow* parse_method(const io::Json& json, const ParseContext& context) {
  const io::Json* word = json.is_object() ? json.find("method") : &json;
  if (word == nullptr || (json.is_object() && word->is_null())) {
    return &collectives::row(CompressionMethod::none);
  }
  if (!word->is_string()) {
    context.problems.add(*word,
                         "must be the name of a compression method, got " + io::shown(*word));
    return nullptr;
  }
  const CompressionRow* row = collectives::find_compression(word->as_string());
  if (row == nullptr) {
    context.problems.add(*word, collectives::unknown_compression(word->as_string()));
  }
  return row;
}

void add_warnings(const CompressionRow& row, const Compression& compression,
                  std::vector<std::string>& warnings) {
  if (row.kind == CompressionKind::sparse && is_free(compression.costs)) {
    warnings.emplace_back("compression is free: no select cost given");
  }
  if (row.kind == CompressionKind::encoded && is_free(compression.costs) &&
      compression.custom == collectives::CustomCompressor{}) {
    warnings.emplace_back("encoding is free: no costs given");
  }
  if (row.method == CompressionMethod::gtopk_tree &&
      compression.residual_mask == collectives::ResidualMask::per_round) {
    warnings.emplace_back(
        "per_round mask on a tree assumes truncation feedback that is not charged");
  }
}

} // namespace

void read_exchange(io::Fields& fields, Compression& out) {
  io::read_members(kExchangeMembers, fields, out);
  out.custom.exchange = fields.word("exchange", collectives::kCustomExchanges);
  out.custom.bytes_per_worker = read_formula(fields, "bytes_per_worker");
}

CompressionMethod compression_method(const io::Json& json) {
  const io::Json* word = json.is_object() ? json.find("method") : &json;
  const CompressionRow* row = word != nullptr && word->is_string()
                                  ? collectives::find_compression(word->as_string())
                                  : nullptr;
  return row != nullptr ? row->method : CompressionMethod::none;
}

// Unknown keys are found first, on all of the object. Keys of other methods are then read apart
// from the method's own: their values must be valid, but nothing follows from them.
Compression parse_compression(const io::Json& json, const ParseContext& context,
                              const CompressCosts& defaults, const CompressionUse& use,
                              std::vector<std::string>& warnings) {
  Compression out;
  const CompressionRow* row = parse_method(json, context);
  if (row == nullptr) {
    return out;
  }
  io::Json object = json; // a word is an object with `method` alone
  if (json.is_string()) {
    object = io::Object{{"method", json}};
    object.set_origin(json.file_pointer(), json.pointer(), json.line());
  }
  io::Fields fields(object, context.problems, keys::kCompressionObject);
  fields.know_all();
  fields.no_more();
  if (!fields.has("method")) { // an empty object is no compression
    for (const auto& [key, value] : object.as_object()) {
      fields.refuse_if(fields.has(key), key, key + " needs a method beside it");
    }
    return out;
  }
  // Values of keys without a meaning are read as well: a leftover is ignored, but it is valid.
  const auto [own, others] = split_keys(object, *row);
  io::Fields rest(others, context.problems, keys::kCompressionObject);
  (void)read_values(rest, context, collectives::row(CompressionMethod::none), {}, {});
  const std::string where = "compression " + std::string(row->name);
  for (const auto& [key, value] : others.as_object()) {
    const bool waits = row->method == CompressionMethod::none;
    if (row->method == CompressionMethod::custom && key == "ratio" && rest.has(key) &&
        context.leftovers == Leftovers::refuse) {
      rest.refuse(key, "a codec of any ratio in a ring is custom_codec; custom has "
                       "bytes_per_worker instead");
    } else {
      context.needs_meaning(rest, key, waits, where);
    }
  }
  io::Fields values(own, context.problems, keys::kCompressionObject);
  out = read_values(values, context, *row, defaults, use);
  for (const auto& [key, kind] :
       {std::pair{"ratio", "a number"}, {"rank", "an integer"}, {"block", "an integer"}}) {
    const bool by_default =
        row->kind == CompressionKind::codec && row->method != CompressionMethod::custom_codec;
    fields.refuse_if(collectives::has_key(*row, key) && !by_default && !values.has(key), key,
                     "required (" + std::string(kind) + ")");
  }
  if (row->kind == CompressionKind::sparse) {
    check_selection(values, context, use, out);
  }
  if (row->method == CompressionMethod::custom) {
    check_custom(values, out, elements_of(values, out, use), use.ranks);
  }
  if (const io::Json* baseline = fields.any("baseline");
      baseline != nullptr && !baseline->is_object() && !baseline->is_null()) {
    context.problems.add(*baseline, "must be an object, got " + io::shown(*baseline));
  }
  check_ranks(values, use, *row, out);
  add_warnings(*row, out, warnings);
  return out;
}

} // namespace stepsim::study
