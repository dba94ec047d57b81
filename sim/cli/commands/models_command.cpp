// stepsim models list | show NAME: the shipped layer tables of networks (MOD).
// Sizes are those of fp32 gradients; multiply-accumulates are forward and per sample (MOD).
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <numeric>

#include "base/printable.hpp"
#include "cli/shell/flag_values.hpp"
#include "document/fields/members.hpp"
#include "layers/workload.hpp"
#include "scenario/files.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kModelsText = answered_at_once({
    "models",
    "list | show NAME | gpus",
    "Lists the layer tables that scenarios name in workload.model, or shows one: its parameter\n"
    "tensors and multiply-accumulates (MACs, forward, per sample), totals and largest tensors.\n"
    "gpus lists those of workload.gpu, for which computing times are estimated.",
    "stepsim models list\n"
    "stepsim models show resnet50 --granularity tensor\n"
    "stepsim models show bert_base --sequence-length 256 --json\n"
    "stepsim models gpus",
    "The file format is described in models/README.md.",
    kJsonOrTable,
});

struct ModelsOptions {
  std::string action = "list";
  std::string name;
  std::string granularity = "tensor";
  std::string order = "registration";
  std::string sequence_length;
};

// One line of `models show`.
struct Row {
  std::string name;
  std::string kind;
  std::string shape; // "64x3x7x7"; "" where several tensors are one item
  std::int64_t elements{};
  std::int64_t macs{};
};

// fp32: a table holds no element type.
constexpr std::int64_t kValueBytes = 4;

// Sizes from the outermost dimension, as frameworks print them.
std::string shape_text(const layers::ModelTensor& tensor) {
  return base::listed(
      tensor.shape, [](std::int64_t size) { return std::to_string(size); }, "x");
}

// All tensors of the layer: weights, biases, normalisation.
std::int64_t elements_of(const layers::ModelLayer& layer) {
  return base::sum_of<std::int64_t>(
      layer.tensors, [](const layers::ModelTensor& tensor) { return tensor.elements(); });
}

// Positions of the layers: as the framework registers parameters (the order of the file), or as
// they execute; the two differ where blocks are registered before they are used.
std::vector<std::size_t> layer_order(const layers::ModelTable& table, std::string_view order) {
  if (order == "execution") {
    return table.execution_order();
  }
  std::vector<std::size_t> positions(table.layers.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  return positions;
}

// Multiply-accumulates belong to a layer and not to a tensor: they stand in the first row of a
// layer and are 0 in its others, so that the column adds up.
std::vector<Row> rows_of(const layers::ModelTable& table, const ModelsOptions& options) {
  std::vector<Row> rows;
  for (const std::size_t position : layer_order(table, options.order)) {
    const layers::ModelLayer& layer = table.layers[position];
    if (options.granularity == "layer" || layer.tensors.empty()) {
      const std::string shape = layer.tensors.size() == 1 ? shape_text(layer.tensors[0]) : "";
      rows.push_back({layer.name, layer.kind, shape, elements_of(layer), layer.macs});
    } else if (options.granularity == "tensor") {
      for (const layers::ModelTensor& tensor : layer.tensors) {
        const bool first = &tensor == &layer.tensors.front();
        rows.push_back({layer.name + "." + tensor.name, layer.kind, shape_text(tensor),
                        tensor.elements(), first ? layer.macs : 0});
      }
    } else { // weight: layers without a weight tensor join the previous one that has one (MOD 8)
      const bool has_weight =
          std::any_of(layer.tensors.begin(), layer.tensors.end(),
                      [](const layers::ModelTensor& tensor) { return tensor.shape.size() >= 2; });
      const bool joins = !rows.empty() && (!has_weight || rows.back().kind.empty());
      if (joins) {
        Row& item = rows.back();
        item.elements += elements_of(layer);
        item.macs += layer.macs;
        if (has_weight) {
          item.name = layer.name;
          item.kind = layer.kind;
        }
      } else {
        rows.push_back({layer.name, has_weight ? layer.kind : std::string(), "", elements_of(layer),
                        layer.macs});
      }
    }
  }
  return rows;
}

// The five largest tensors, of equal ones those that are registered first.
std::vector<Row> largest_tensors(const layers::ModelTable& table) {
  std::vector<Row> tensors = rows_of(table, ModelsOptions{});
  std::ranges::stable_sort(tensors, std::greater(), &Row::elements);
  tensors.resize(std::min<std::size_t>(tensors.size(), 5));
  return tensors;
}

// A shape is null where several tensors are one row.
io::Json row_tree(const Row& row) {
  io::Json tree = io::tree_of<&Row::name, &Row::kind, &Row::elements, &Row::macs>(row);
  tree.set("shape", io::text_or_null(row.shape));
  tree.set("bytes", row.elements * kValueBytes);
  return tree;
}

// The numbers that the sources of a table publish.
io::Json totals_tree(const layers::ModelTable& table) {
  return io::Object{{"elements", table.elements()},
                    {"tensors", table.tensors()},
                    {"layers", static_cast<std::int64_t>(table.layers.size())},
                    {"macs", table.macs()},
                    {"bytes", table.elements() * kValueBytes},
                    {"active_elements", table.active_elements()}};
}

io::Json show_tree(const layers::ModelTable& table, const ModelsOptions& options) {
  using Model = layers::ModelTable;
  io::Json tree = io::tree_of<&Model::name, &Model::family, &Model::source>(table);
  io::set_members<&ModelsOptions::granularity, &ModelsOptions::order>(options, tree);
  tree.set("sequence_length",
           table.sequence ? io::Json(table.sequence->sequence_length) : io::Json());
  tree.set("totals", totals_tree(table));
  tree.set("items", io::write_each(rows_of(table, options), row_tree));
  tree.set("largest_tensors", io::write_each(largest_tensors(table), row_tree));
  return tree;
}

// The last lines name the tensors that dominate a merge plan.
std::string show_text(const layers::ModelTable& table, const ModelsOptions& options) {
  std::string out = base::printable(table.name + ": " + table.source) + "\n";
  if (table.sequence) {
    out += "sequence length " + std::to_string(table.sequence->sequence_length) + "\n";
  }
  out += std::to_string(table.elements()) + " elements in " + std::to_string(table.tensors()) +
         " tensors of " + std::to_string(table.layers.size()) + " layers, " +
         base::readable_bytes(static_cast<double>(table.elements() * kValueBytes)) + " in fp32, " +
         base::significant(static_cast<double>(table.macs()) / 1e9) + " GMACs forward per sample\n";
  if (table.active_elements() != table.elements()) {
    out += std::to_string(table.active_elements()) + " elements active per token\n";
  }
  out += "\n";
  Table text{{options.granularity, "kind", "shape", "elements", "kB", "MMACs"}};
  for (const Row& row : rows_of(table, options)) {
    text.rows.push_back({row.name, row.kind, row.shape, std::to_string(row.elements),
                         base::significant(static_cast<double>(row.elements * kValueBytes) / 1e3),
                         base::significant(static_cast<double>(row.macs) / 1e6)});
  }
  out += table_text(text) + "\nlargest tensors:\n";
  for (const Row& row : largest_tensors(table)) {
    out += "  " + base::printable(row.name) + " (" + row.shape + "), " +
           base::significant(
               100 * static_cast<double>(row.elements) / static_cast<double>(table.elements()), 3) +
           " % of all elements\n";
  }
  return out;
}

// Rows as a table of these columns, and as the list `key` of a tree.
int write_rows(const char* key, const io::Array& rows, std::span<const Column> columns,
               const Common& common) {
  const io::Json tree(io::Object{{key, rows}});
  return write_document(common, {.tables = [&] { return std::vector{table_of(rows, columns)}; },
                                 .tree = [&] { return tree; }});
}

// Every shipped table is loaded: the list takes its totals from the layers, not from a second
// place.
int list_models(study::Files& files, const Common& common) {
  io::Array models;
  for (const auto& [name, path] : shipped_files(files.data_folder(), study::kShippedModels)) {
    io::Json entry = totals_tree(files.model(io::Json(name)));
    entry.set("name", name);
    models.push_back(std::move(entry));
  }
  static const std::array columns{
      Column{"name", "model", 1, in_full},      Column{"elements", "elements", 1, in_full},
      Column{"tensors", "tensors", 1, in_full}, Column{"layers", "layers", 1, in_full},
      Column{"bytes", "fp32 [MB]", 1e-6},       Column{"macs", "GMACs", 1e-9}};
  return write_rows("models", models, columns, common);
}

// What an estimate for each GPU takes, and between which factors of it measured times lie.
int list_gpus(const Common& common) {
  io::Array gpus;
  for (const layers::Gpu& gpu : layers::gpus()) {
    const layers::FamilyConstants& constants = gpu.constants();
    const auto all = layers::kPrecisions.all();
    std::vector<std::string_view> formats(all.begin(), all.end());
    std::erase_if(formats, [&](auto word) { return !gpu.has(*layers::kPrecisions.find(word)); });
    gpus.push_back(io::Object{{"name", gpu.name},
                              {"family", layers::kGpuFamilies[gpu.family]},
                              {"peak_flops_Ps", gpu.peak.value},
                              {"memory_Bps", gpu.memory.value},
                              {"product_fraction", gpu.matrix_fraction * constants.products},
                              {"attention_fraction", gpu.matrix_fraction * constants.attention},
                              {"formats", base::joined(formats)},
                              {"low", constants.interval.low},
                              {"high", constants.interval.high},
                              {"validated", constants.interval.validated}});
  }
  const auto fraction = [](const io::Json& gpu, const Column& column) {
    return base::significant(gpu.find(column.key)->as_double(), 3);
  };
  const auto interval = [](const io::Json& gpu, const Column&) {
    return base::shortest(gpu.find("low")->as_double()) + " to " +
           base::shortest(gpu.find("high")->as_double()) +
           (gpu.find("validated")->as_bool() ? "" : ", unvalidated");
  };
  const std::array columns{Column{"name", "gpu", 1, in_full},
                           Column{"peak_flops_Ps", "peak [TFLOP/s]", 1e-12},
                           Column{"memory_Bps", "memory [TB/s]", 1e-12},
                           Column{"product_fraction", "products", 1, fraction},
                           Column{"attention_fraction", "attention", 1, fraction},
                           Column{"formats", "formats", 1, in_full},
                           Column{"low", "interval", 1, interval}};
  return write_rows("gpus", gpus, columns, common);
}

// The table, at the sequence length that was asked for. --sequence-length rescales
// multiply-accumulates and is refused where the network has no positions or fewer of them; a
// network without a limit takes up to 2^20.
layers::ModelTable load(study::Files& files, const ModelsOptions& options) {
  const std::string& name = options.name;
  const std::string path = study::is_shipped_name(name)
                               ? shipped_file(files.data_folder(), study::kShippedModels, name)
                               : name;
  layers::ModelTable table = files.model(io::Json(path));
  if (options.sequence_length.empty()) {
    return table;
  }
  const std::string flag = "--sequence-length " + base::shown_value(options.sequence_length) + ": ";
  const double length = quantity("--sequence-length", options.sequence_length,
                                 base::QuantityKind::count, io::at_least(1));
  if (!table.sequence) {
    throw UsageError(flag + table.name + " has no sequence length");
  }
  const std::int64_t longest = table.sequence->max_sequence_length; // 0 = no limit
  if (length > (longest > 0 ? static_cast<double>(longest) : 0x1p20)) {
    throw UsageError(flag + table.name + " has " + std::to_string(longest > 0 ? longest : 1 << 20) +
                     " positions, got " + options.sequence_length);
  }
  return layers::with_sequence_length(table, static_cast<std::int64_t>(length));
}

} // namespace

// ACTION and words are checked before any table is read.
int models(const Invocation& invocation) {
  ModelsOptions options;
  CLI::App app;
  app.add_option("ACTION", options.action, "list, show or gpus; default list");
  app.add_option(
      "NAME", options.name,
      "of a shipped table, a FILE of kind model, or the config.json of a Hugging Face model");
  add_value(app, "--granularity", options.granularity, "WORD",
            "one row per tensor, layer or weight; default tensor");
  add_value(app, "--order", options.order, "WORD",
            "of the rows: registration or execution; default registration");
  add_value(app, "--sequence-length", options.sequence_length, "S",
            "tokens per sample, rescales the MACs; default the table's");
  Common common(app, kModelsText, invocation);
  require_word("ACTION", options.action, {"list", "show", "gpus"});
  require_word("--granularity", options.granularity, layers::kGranularities.all());
  require_word("--order", options.order, {"registration", "execution"});
  study::Files files(invocation.data_folder, {common.output});
  if (options.action != "show") {
    refuse_others(common, {"ACTION"}, "needs models show");
  }
  if (options.action == "list") {
    return list_models(files, common);
  }
  if (options.action == "gpus") {
    return list_gpus(common);
  }
  if (options.name.empty()) {
    throw UsageError("models show: give the NAME of a model; see stepsim models list");
  }
  const layers::ModelTable table = load(files, options);
  return write_document(common, {.text = [&] { return show_text(table, options); },
                                 .tree = [&] { return show_tree(table, options); }});
}

} // namespace stepsim::cli
