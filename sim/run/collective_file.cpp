// The keys are read first, then the files that they name, and last the collective is checked as a
// whole by the rules of coll. Its findings are names of values ("block_bytes"), which the rows of
// the kind turn into pointers ("/options/block_bytes").
#include "run/collective_file.hpp"

#include "collectives/validate.hpp"
#include "document/json_text.hpp"
#include "run/collective_keys.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/scenario_parts.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

namespace {

using collectives::CompressionMethod;

// A method of compression compresses the messages of a ring; ring stands in for `library`, too.
CompressionMethod parse_algorithm(io::Fields& fields, CollectiveFile& file) {
  const std::string given = fields.json().text("algorithm");
  if (!collectives::parse_algorithm(given) && collectives::find_compression(given) == nullptr &&
      collectives::compression_family(given) != nullptr) {
    fields.refuse("algorithm", collectives::unknown_compression(given));
    (void)fields.any("algorithm");
    return CompressionMethod::none;
  }
  const std::string_view word = fields.word("algorithm");
  if (word == keys::kLibrary) {
    file.question.emplace();
  } else if (const auto algorithm = collectives::parse_algorithm(word)) {
    file.collective.algorithm = *algorithm;
  } else {
    return collectives::find_compression(word)->method;
  }
  return CompressionMethod::none;
}

// The sum of sizes is the number of bytes.
void parse_bytes(io::Fields& fields, const ParseContext& context, collectives::Collective& out) {
  const io::Json* sizes = fields.given("sizes");
  const auto elements = fields.optional_integer("elements");
  const auto type = fields.word("element_type", nccl::kElementTypes);
  if (elements && (fields.has("bytes") || fields.has("sizes"))) {
    context.problems.add(fields.json(), "/elements excludes /bytes and /sizes: give one of them");
  }
  if (elements) {
    out.bytes = static_cast<double>(*elements) * nccl::element_bytes(type);
    (void)fields.any("bytes");
    return;
  }
  if (sizes == nullptr) {
    out.bytes = static_cast<double>(fields.required_integer("bytes"));
    return;
  }
  if (fields.optional_integer("bytes")) {
    context.problems.add(fields.json(),
                         "/sizes and /bytes exclude each other: the sizes give the bytes");
  }
  if (context.problems.empty()) {
    out.sizes = sizes->is_string() ? context.files.sizes(*sizes, out.ranks)
                                   : io::parse_sizes(*sizes, out.ranks);
    out.bytes = std::accumulate(out.sizes.begin(), out.sizes.end(), 0.0);
  }
}

// {"3": 0.001}: rank -> seconds, on top of when the rank enters otherwise.
void parse_late(io::Fields& fields, const ParseContext& context, collectives::Collective& out) {
  const io::Object& members = fields.members("late_s", "{rank: seconds}");
  if (fields.has("late_s")) {
    out.enter_s.resize(out.ranks, 0);
  }
  for (const auto& [key, value] : members) {
    const auto rank = base::parse_number<std::uint32_t>(key);
    if (!rank || *rank >= out.ranks) {
      context.problems.refuse(*fields.any("late_s"), "must name ranks from 0 to {}, got {}",
                              out.ranks - 1, base::shown_value(key));
      continue;
    }
    out.enter_s[*rank] +=
        io::checked_number(value, keys::kLate.front().range, context.problems).value_or(0);
  }
}

// Times of the collective itself win over those of its links.
void parse_entry(io::Fields& fields, const ParseContext& context, collectives::Collective& out) {
  if (const io::Json* json = fields.given("enter_s"); json != nullptr && context.problems.empty()) {
    out.enter_s = json->is_string() ? context.files.entry(*json, out.ranks)
                                    : io::parse_entry(*json, out.ranks);
  }
  parse_late(fields, context, out);
}

void parse_options(io::Fields& fields, collectives::Collective& out) {
  fields.object("options", [&](io::Fields& options) {
    read_options(options, out.op, out.options);
    out.options.servers = static_cast<std::uint32_t>(options.integer("servers"));
    out.options.placement = options.word("placement", collectives::kPlacements);
  });
}

// A tensor is taken as a matrix of its first dimension against all others, as PowerSGD does. Up to
// 2^53 values a double counts exactly.
std::vector<collectives::MatrixShape> parse_shapes(io::Fields& fields) {
  std::vector<collectives::MatrixShape> shapes;
  const io::Range range = keys::kTensorLength.front().range;
  for (const io::Json& tensor : fields.list("shapes")) {
    if (!tensor.is_array() || tensor.as_array().empty()) {
      fields.problems().add(tensor, "must be a list of lengths, got " + io::shown(tensor));
      continue;
    }
    collectives::MatrixShape shape{0, 1};
    double values = 1;
    for (const io::Json& length : tensor.as_array()) {
      const std::int64_t size = io::checked_integer(length, range, fields.problems()).value_or(1);
      values *= static_cast<double>(size);
      if (values > range.high) {
        fields.problems().add(tensor, "must have at most 2^53 values");
        break;
      }
      shape.rows == 0 ? shape.rows = size : shape.columns *= size;
    }
    shapes.push_back(shape);
  }
  return shapes;
}

// Numbers that a method cannot guess are required, such as the rank of powersgd.
void check_required(io::Fields& fields, CompressionMethod method) {
  constexpr std::string_view kDensityKey = io::key_of<&collectives::Compression::density>();
  const collectives::CompressionRow& row = collectives::row(method);
  if (collectives::has_key(row, "k") && fields.has(kDensityKey) == fields.has("k")) {
    fields.refuse(kDensityKey, "give exactly one of /compression/density and /compression/k");
  }
  for (const std::string_view key : {"rank", "block"}) {
    if (collectives::has_key(row, key) && !fields.has(key)) {
      fields.refuse(key, "required by " + std::string(row.name));
    }
  }
  if (method == CompressionMethod::custom_codec && !fields.has("ratio")) {
    fields.refuse("ratio", "required by custom_codec");
  }
}

// Values are read for a dense algorithm, too: they must be valid, and nothing follows from them.
void parse_exchange(io::Fields& fields, CompressionMethod method, Leftovers leftovers,
                    CollectiveFile& file) {
  const bool given = fields.has("compression");
  if (!given && method == CompressionMethod::none) {
    (void)fields.any("compression");
    return;
  }
  io::Json empty{io::Object{}};
  if (!given) {
    empty.set_origin(fields.json().file_pointer(), fields.json().pointer() + "/compression", 0);
  }
  const io::Json* json = fields.any("compression");
  io::Fields inner(given ? *json : empty, fields.problems(), fields.row("compression"));
  collectives::Compression out;
  out.method = method;
  read_exchange(inner, out);
  out.k = inner.optional_integer("k");
  const int dense_bytes = nccl::element_bytes(fields.word("element_type", nccl::kElementTypes));
  out.value_bytes = inner.integer_or("value_bytes", dense_bytes);
  const bool typed = fields.has("elements") || fields.has("element_type");
  file.element_bytes = typed ? dense_bytes : out.value_bytes;
  file.gradient.bytes = file.collective.bytes;
  file.gradient.elements = static_cast<std::int64_t>(file.collective.bytes) / file.element_bytes;
  out.ratio = inner.number_or("ratio", collectives::codec_ratio(method, dense_bytes));
  file.gradient.shapes = parse_shapes(inner);
  inner.no_more();
  const bool dense = method == CompressionMethod::none;
  if (leftovers == Leftovers::refuse) {
    refuse_meaningless(inner.json(), {&method, dense ? 0U : 1U}, fields.problems());
  }
  if (!dense) {
    check_required(inner, method);
    if (method == CompressionMethod::custom) {
      check_custom(inner, out, std::nullopt, std::nullopt);
    }
    file.compression = out;
  }
}

// The pointer of the value that a finding names: at the root, or in one of the objects below it.
// Names of the network inside a node have a prefix of their own.
std::string pointer_of(std::string_view what) {
  constexpr std::string_view kIntra = "intra_";
  const std::string_view name = what.substr(0, what.find('/'));
  if (io::find_key(keys::kCollectiveFile, name) != nullptr) {
    return "/" + std::string(what);
  }
  for (const std::string_view part : {"/network/", "/options/", "/compression/"}) {
    if (io::key_at(keys::kCollectiveFile, std::string(part).append(name)) != nullptr) {
      return std::string(part).append(what);
    }
  }
  return "/intra_network/" + std::string(what.substr(kIntra.size()));
}

// A compressed exchange is an all-reduce by definition: other operations are refused in words of
// the method.
std::vector<collectives::Finding> findings_of(const CollectiveFile& file) {
  if (!file.compression) {
    return collectives::validate(file.collective, file.method);
  }
  if (file.collective.op != collectives::Op::allreduce) {
    return {{"algorithm",
             std::string(collectives::row(file.compression->method).name) + " is not defined for " +
                 std::string(collectives::name(file.collective.op)) + ", only for allreduce"}};
  }
  collectives::Compression dense = *file.compression; // whose bytes are checked
  dense.value_bytes = file.element_bytes;
  return collectives::validate(dense, file.gradient.shapes, file.collective, file.method);
}

// Findings about links are of the file that lists them.
void refuse_findings(const io::Json& tree, const CollectiveFile& file) {
  const std::vector<collectives::Finding> findings = findings_of(file);
  if (findings.empty()) {
    return;
  }
  std::vector<base::Problem> problems;
  for (const auto& [what, message] : findings) {
    if (what.starts_with("links/")) {
      problems.push_back({file.links_file, file.links_pointer + "/" + what, message});
    } else {
      problems.push_back({std::string(tree.file()), tree.pointer() + pointer_of(what), message});
    }
  }
  throw InputError(std::move(problems));
}

} // namespace

bool is_collective(const io::Json& tree) { return tree.text("kind") == "collective"; }

std::optional<CompressionMethod> exchange_method(const io::Json& algorithm) {
  const collectives::CompressionRow* row =
      algorithm.is_string() ? collectives::find_compression(algorithm.as_string()) : nullptr;
  return row != nullptr && row->method != CompressionMethod::none ? std::optional(row->method)
                                                                  : std::nullopt;
}

void refuse_meaningless(const io::Json& compression, std::span<const CompressionMethod> methods,
                        io::Problems& problems) {
  const std::string names = base::listed(
      methods, [](CompressionMethod method) { return collectives::row(method).name; }, ",");
  if (!compression.is_object()) {
    return;
  }
  for (const auto& [key, value] : compression.as_object()) {
    const bool is_read = std::ranges::any_of(methods, [&, &name = key](CompressionMethod method) {
      return collectives::has_key(collectives::row(method), name);
    });
    const bool is_key = std::ranges::find(keys::kCollectiveCompression, key, &io::Key::name) !=
                        keys::kCollectiveCompression.end();
    if (is_key && !is_read && !value.is_null()) {
      problems.add(compression, key,
                   "has no meaning for " + (names.empty() ? "a dense exchange" : names));
    }
  }
}

CollectiveFile parse_collective(const io::Json& given, Files& files, Leftovers leftovers) {
  const io::Json tree = with_short_forms_expanded(given);
  io::Problems problems;
  const ParseContext context{problems, files, leftovers};
  io::Fields fields(tree, problems, keys::kCollectiveFile);
  fields.header("collective");
  CollectiveFile file;
  collectives::Collective& out = file.collective;
  out.op = fields.word("op", collectives::kOps);
  const CompressionMethod method = parse_algorithm(fields, file);
  parse_system(fields, context, file);
  out.root = static_cast<std::uint32_t>(fields.integer("root"));
  file.method = fields.word("method", collectives::kAskedMethods);
  const bool allow_unusual = fields.boolean("allow_unusual");
  for (const std::string_view part : {"network", "intra_network", "links", "topology"}) {
    if (const io::Json* found = tree.find(part)) {
      refuse_unusual(*found, allow_unusual, problems);
    }
  }
  parse_bytes(fields, context, out);
  parse_options(fields, out);
  parse_exchange(fields, method, leftovers, file);
  parse_collective_network(fields, context, file);
  parse_entry(fields, context, out);
  fields.no_more();
  if (leftovers == Leftovers::refuse) {
    refuse_unused_keys(file, tree, problems);
  }
  problems.throw_if_any();
  if (file.question) {
    ask_library(tree, file);
  } else {
    refuse_findings(tree, file);
  }
  return file;
}

io::Array overrides_of(const CollectiveFile& file) {
  return io::write_each(file.cluster.overrides,
                        [](const Override& each) { return io::Json(each.pointer); });
}

} // namespace stepsim::study
