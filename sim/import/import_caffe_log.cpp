// Logs of the S-SGD branch of Caffe, which dumps one row per blob of parameters, [id, elements,
// backward_us, communication_us], with ids that rise by one. Of several dumps the last one with
// times is used. Its communication times become measured exchanges.
#include "import/import_layer_table.hpp"

#include <ranges>

#include "document/csv.hpp"
#include "import/kineto/kineto_sizes.hpp"

namespace stepsim::io {

namespace {

struct CaffeRow {
  std::int64_t id{};
  std::int64_t elements{};
  double backward_s{};
  double communication_s{};
};
using Dump = std::vector<CaffeRow>;

// Fixed by the program that wrote the log: blocks of elements, 32-bit floats, and the usual ratio
// of forward to backward, since forward was not timed.
constexpr std::int64_t kBlobAlignment = 64;
constexpr double kForwardPerBackward = 0.5;

// Between the last '[' and the last ']'; empty optional for lines without brackets.
// The logger puts a bracket of its own before the row, so that the last ones count.
std::optional<std::string_view> bracketed(std::string_view line) {
  const std::size_t open = line.find_last_of('[');
  if (open == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t close = line.find_last_of(']');
  if (close == std::string_view::npos || close < open) {
    return line.substr(open + 1);
  }
  return line.substr(open + 1, close - open - 1);
}

CaffeRow parse_row(std::string_view text, const LineReader& input) {
  const auto fields = base::collected<std::string_view>(split(text), trimmed);
  if (fields.size() != 4 && fields.size() != 5) {
    input.fail(fmt::format(
        "expected [id, elements, backward_us, communication_us(, merged_us)], got {} fields",
        fields.size()));
  }
  const auto whole = [&](std::size_t i, std::string_view what, std::int64_t most) {
    const auto value = parse_whole(fields[i]);
    if (!value || *value < 0 || *value > most) {
      input.fail(fmt::format("{}: must be a whole number in 0..{}, got {}", what, most,
                             base::shown_value(fields[i])));
    }
    return *value;
  };
  const auto time = [&](std::size_t i) {
    const auto value = parse_scaled(fields[i], -6);
    if (!value || *value < 0) {
      input.fail("must be microseconds >= 0, got " + base::shown_value(fields[i]));
    }
    return *value;
  };
  const CaffeRow row{whole(0, "id", 1'000'000'000), whole(1, "elements", base::kMaxExactBytes / 8),
                     time(2), time(3)};
  if (fields.size() == 5) {
    (void)time(4); // the same exchanges while messages are merged
  }
  return row;
}

// An id that does not rise begins another dump; one that is left out means that rows are missing.
std::vector<Dump> read_dumps(LineReader& input) {
  std::vector<Dump> dumps;
  for (TextLine line; input.next(line);) {
    const auto text = bracketed(line.text);
    if (!text) {
      continue;
    }
    const CaffeRow row = parse_row(*text, input);
    if (dumps.empty() || row.id <= dumps.back().back().id) {
      dumps.emplace_back();
    } else if (row.id != dumps.back().back().id + 1) {
      input.fail(fmt::format("id {} after id {}", row.id, dumps.back().back().id));
    }
    dumps.back().push_back(row);
  }
  if (dumps.empty()) {
    throw InputError(input.name(), "", "no layer rows found");
  }
  return dumps;
}

// A dump that comes before the first backward pass holds zeros only.
bool has_times(const Dump& dump) {
  return std::ranges::any_of(dump, [](const CaffeRow& row) { return row.backward_s > 0; });
}

// Names of the blobs of a table, if its tensors, padded, are the rows.
struct BlobName {
  std::string layer;
  std::string tensor;
};
// Caffe pads every blob to a multiple of 64 elements: a table fits if its tensors, padded, are the
// rows one by one.
std::vector<BlobName> names_from(const layers::ModelTable& table, const Dump& dump) {
  std::vector<BlobName> names;
  for (const std::size_t i : table.execution_order()) {
    for (const layers::ModelTensor& tensor : table.layers[i].tensors) {
      const std::int64_t blobs = (tensor.elements() + kBlobAlignment - 1) / kBlobAlignment;
      if (names.size() == dump.size() || dump[names.size()].elements != blobs * kBlobAlignment) {
        return {};
      }
      names.push_back({table.layers[i].name, tensor.name});
    }
  }
  return names.size() == dump.size() ? names : std::vector<BlobName>();
}

// Names are a convenience: without a table that fits, layers are numbered.
std::vector<BlobName> find_names(const Dump& dump, const CaffeLogOptions& options,
                                 const std::string& file, std::vector<std::string>& warnings) {
  if (options.model) {
    auto names = names_from(table_named(options.models, *options.model), dump);
    if (names.empty()) {
      throw InputError(
          file, "", fmt::format("model {} does not fit the {} rows", *options.model, dump.size()));
    }
    return names;
  }
  for (const layers::ModelTable& table : options.models) {
    if (auto names = names_from(table, dump); !names.empty()) {
      warnings.push_back(
          fmt::format("layer names from model table {}: its {} padded tensors are the rows",
                      table.name, names.size()));
      return names;
    }
  }
  warnings.emplace_back("no model table fits the rows: layers are numbered");
  return {};
}

// The blobs of a layer were logged with the same backward time: neighbours with one time are one
// layer. Blobs without time are parameters that are not trained.
std::vector<layers::Layer> layers_of(const Dump& dump, const std::vector<BlobName>& names) {
  std::vector<layers::Layer> layers;
  for (std::size_t first = 0, end = 0; first < dump.size(); first = end) {
    while (end < dump.size() && dump[end].backward_s == dump[first].backward_s) {
      ++end;
    }
    if (dump[first].backward_s == 0) {
      continue;
    }
    layers::Layer layer;
    layer.name = names.empty() ? "layer_" + std::to_string(layers.size() + 1) : names[first].layer;
    layer.backward = Seconds{dump[first].backward_s};
    layer.forward = *layer.backward * kForwardPerBackward;
    layer.gradient_bytes = Bytes{0};
    for (std::size_t i = end; i-- > first;) { // a bias before its weight
      layers::Tensor tensor = tensor_of(dump[i].elements, {"float32", 4});
      tensor.name = names.empty() ? "" : names[i].layer + "." + names[i].tensor;
      *layer.gradient_bytes += *tensor.bytes;
      layer.tensors.push_back(std::move(tensor));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

// The logged exchanges become buckets in launch order, which is that of falling ids. A row without
// a time was sent together with the row before it that has one.
void add_exchanges(const Dump& dump, layers::Trace& trace) {
  Dump trained;
  std::ranges::copy_if(dump, std::back_inserter(trained),
                       [](const CaffeRow& row) { return row.backward_s > 0; });
  const auto sent =
      std::ranges::count_if(trained, [](const CaffeRow& row) { return row.communication_s > 0; });
  if (sent == 0) {
    return;
  }
  trace.buckets.resize(static_cast<std::size_t>(sent));
  auto row = trained.begin();
  std::ptrdiff_t begun = 0;
  for (layers::Layer& layer : trace.layers) {
    for (layers::Tensor& tensor : std::views::reverse(layer.tensors)) { // as the rows stand
      begun += row->communication_s > 0 ? 1 : 0;
      tensor.bucket = sent - std::max<std::ptrdiff_t>(begun, 1);
      layers::MeasuredBucket& bucket = trace.buckets[static_cast<std::size_t>(*tensor.bucket)];
      bucket.dtype = tensor.dtype;
      bucket.elements += *tensor.elements;
      bucket.bytes += *tensor.bytes;
      ++bucket.tensors;
      if (row->communication_s > 0) {
        bucket.min = bucket.median = bucket.max = Seconds{row->communication_s};
      }
      ++row;
    }
  }
}

} // namespace

layers::Trace import_caffe_log(const std::string& file, const CaffeLogOptions& options) {
  LineReader input(file, options.common.max_bytes);
  const std::vector<Dump> dumps = read_dumps(input);
  const auto last = std::find_if(dumps.rbegin(), dumps.rend(), has_times);
  if (last == dumps.rend()) {
    throw InputError(input.name(), "", "no dump has backward times");
  }
  layers::Trace trace;
  trace.name = result_name(options.common, file);
  trace.provenance = layers::Provenance::assumed;
  trace.source = make_source("caffe-log", options.common);
  trace.source->files.push_back(input.file(file));
  if (options.model) {
    trace.source->options.emplace_back("model", *options.model);
  }
  if (dumps.size() > 1) {
    trace.warnings.push_back(fmt::format("{} dumps in the log: the last one{} is used",
                                         dumps.size(),
                                         last == dumps.rbegin() ? "" : " with backward times"));
  }
  const std::vector<BlobName> names = find_names(*last, options, input.name(), trace.warnings);
  trace.layers = layers_of(*last, names);
  add_exchanges(*last, trace);
  trace.ranks = options.ranks;
  trace.time_basis = "kernel";
  // The trace is `assumed` as a whole, because half of its times are.
  trace.granularity =
      layers::Granularity::layer; // S-SGD of Caffe sends the blobs of a layer as one
  trace.warnings.emplace_back("forward is not logged: forward = 0.5 x backward (assumed)");
  trace.warnings.emplace_back(
      "only layers with parameters were timed: pooling, ReLU, LRN, concat and loss are missing");
  trace.warnings.emplace_back("elements are padded to multiples of 64 per blob, as logged");
  return trace;
}

} // namespace stepsim::io
