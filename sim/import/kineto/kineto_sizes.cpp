// The first source with an answer counts (kineto_found.hpp). What follows is common to all: buckets
// get their members, element types become bytes.

#include "import/kineto/kineto_sizes.hpp"

namespace stepsim::io {

namespace {

// The total that the user gives against one that was found: far apart, one of them is wrong.
bool agrees(std::int64_t total, std::int64_t found, const std::string& file,
            const std::string& words) {
  if (std::abs(static_cast<double>(total - found)) >= 0.01 * static_cast<double>(found)) {
    throw InputError(
        file, "",
        fmt::format("--parameters {} differs by 1 % or more from the {} elements of {}", total,
                    found, words));
  }
  return total == found;
}

// Of the given sources the first with an answer.
std::optional<Found> first_answer(const StepSample& step, const SizeSources& sources,
                                  const std::string& file, std::vector<std::string>& notes) {
  if (auto found = from_table(step, sources)) {
    return found;
  }
  if (auto found = from_execution_trace(step, sources)) {
    return found;
  }
  // Too many gradients without a size: another source may know them.
  const auto enough = [&](const Found& found) {
    std::vector<GradientSize> sizes = found.sizes;
    (void)assign_buckets(step, sizes);
    const auto missing = std::ranges::count_if(sizes, [](const GradientSize& size) {
      return !size.tensor.elements && size.bucket != GradientSize::kNever;
    });
    return 10 * missing <= std::ssize(step.gradients);
  };
  if (auto found = from_gradient_shapes(step); found && enough(*found)) {
    return found;
  }
  if (auto found = from_named_model(step, sources, file)) {
    return found;
  }
  if (auto found = from_forward_shapes(step); found && enough(*found)) {
    return found;
  }
  std::optional<Found> found = from_fitting_model(step, sources.tables, notes);
  if (!found) {
    found = from_buckets(step, sources.weights);
  }
  if (sources.parameters &&
      (!found || !agrees(*sources.parameters, bucket_elements(step), file,
                         found->is_estimate ? fmt::format("the {} buckets", bucket_word(step))
                                            : found->words))) {
    return from_total(*sources.parameters, sources.weights);
  }
  return found || sources.units.empty() ? found : from_units(step, sources);
}

// A total that is given next to sizes that are known is theirs.
void check_total(const Found& found, const SizeSources& sources, const std::string& file) {
  std::int64_t total = 0;
  for (const GradientSize& size : found.sizes) {
    if (!size.tensor.elements) {
      return;
    }
    total += *size.tensor.elements;
  }
  if (sources.parameters && !found.is_estimate) {
    (void)agrees(*sources.parameters, total, file, found.name);
  }
}

// Bytes by the type that travels: the bucket's, else that of the gradient.
void add_bytes(const StepSample& step, const SizeSources& sources, GradientSizes& result) {
  const auto known_dtype = [&](std::int32_t bucket) -> std::optional<DtypeWord> {
    return bucket < 0
               ? std::nullopt
               : dtype_of_pytorch(step.buckets[static_cast<std::size_t>(bucket)].call.dtype.get());
  };
  std::optional<DtypeWord> common; // of any collective with gradients
  for (std::size_t b = 0; b < step.buckets.size() && !common; ++b) {
    common = known_dtype(static_cast<std::int32_t>(b));
  }
  bool assumed = false;
  std::string words;
  for (auto& [tensor, extra_elements, bucket] : result.sizes) {
    std::optional<DtypeWord> dtype = known_dtype(bucket);
    if (!dtype && !tensor.dtype.empty()) {
      dtype = dtype_of_pytorch(tensor.dtype);
    }
    if (!dtype) {
      dtype = common;
    }
    if (!dtype) {
      assumed = true;
      dtype = dtype_of_pytorch(sources.dtype.value_or("float32"));
    }
    const auto [word, item_bytes] = dtype.value_or(DtypeWord{"float32", 4});
    tensor.dtype = word;
    tensor.bytes = Bytes{tensor.elements.value_or(0) * item_bytes};
    tensor.extra_bytes = Bytes{extra_elements * item_bytes};
    if (bucket >= 0) {
      tensor.bucket = bucket;
    }
    if (bucket != GradientSize::kNever && words.find(word) == std::string::npos) {
      words += (words.empty() ? "" : " and ") + tensor.dtype;
    }
  }
  if (assumed && !sources.dtype) {
    result.notes.push_back("dtype assumed: float32");
  }
  result.source += (assumed ? ", dtype assumed: " : ", ") + words;
}

// DDP's own list of the parameters in each bucket.
bool settle_by_list(const StepSample& step, const SizeSources& sources,
                    std::vector<GradientSize>& sizes) {
  if (sources.log == nullptr || sources.table == nullptr || sources.table_in_ready_order ||
      step.logged_buckets) {
    return false;
  }
  const std::vector<std::int32_t> buckets = listed_buckets(*sources.log, sizes.size());
  if (buckets.empty() || sources.log->parameters.size() != step.buckets.size()) {
    return false;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i].bucket = buckets[i];
  }
  return true;
}

// What to give, the most helpful first.
std::string remedy_of(const StepSample& step, const SizeSources& sources) {
  if (step.gradients.empty()) {
    return "no gradient nodes (torch::autograd::AccumulateGrad) in the backward pass: not a step "
           "of training";
  }
  std::string fitting;
  std::size_t fits = 0;
  for (const layers::ModelTable& table : sources.tables()) {
    if (!fit_table(step, table).sizes.empty()) {
      ++fits;
      fitting = table.name;
    }
  }
  const std::string count = counted(std::ssize(step.gradients), "gradient");
  if (fits == 1) {
    return fmt::format("the trace has no sizes for its {}; they match {}: stepsim import kineto "
                       "FILE --model {}",
                       count, fitting, fitting);
  }
  constexpr std::string_view kTotal =
      "--parameters N (the model's parameter count; assumed spread)";
  if (!step.buckets.empty() && !buckets_have_sizes(step)) {
    return fmt::format("{} without sizes: give --sizes sizes.csv (see import --help) or {}",
                       counted(std::ssize(step.buckets), "measured all-reduce"), kTotal);
  }
  return fmt::format("{}, no sizes: give {}", count, kTotal) +
         (sources.record_shapes ? "" : ", or profile again with record_shapes=True");
}

// A table of the model has the sizes that a trace lacks. It fits if its layers with parameters have
// the trace's numbers of gradients, in the order in which they run.

// Layers of a table that have parameters, in forward order.
std::vector<const layers::ModelLayer*> parameter_layers(const layers::ModelTable& table) {
  std::vector<const layers::ModelLayer*> layers;
  for (const std::size_t i : table.execution_order()) {
    if (!table.layers[i].tensors.empty()) {
      layers.push_back(&table.layers[i]);
    }
  }
  return layers;
}

// Gradients of a layer become ready in reverse order of registration: a bias before its weight.
std::vector<GradientSize> ready_order(const layers::ModelLayer& layer) {
  std::vector<GradientSize> sizes;
  for (auto tensor = layer.tensors.rbegin(); tensor != layer.tensors.rend(); ++tensor) {
    layers::Tensor& size = sizes.emplace_back().tensor;
    size.elements = tensor->elements();
    size.name = layer.name + "." + tensor->name;
    size.shape = tensor->shape;
  }
  return sizes;
}

// Kinds of layers with parameters, as operators of PyTorch and rows of tables name them.
enum class Kind { other, convolution, linear, normalisation };

Kind size_kind_of(std::string_view text) {
  const auto contains = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (contains("conv")) {
    return Kind::convolution;
  }
  if (contains("linear") || contains("addmm")) {
    return Kind::linear;
  }
  return contains("norm") ? Kind::normalisation : Kind::other;
}

} // namespace

GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                         const std::string& file) {
  GradientSizes result;
  std::optional<Found> found;
  if (!step.gradients.empty()) {
    found = first_answer(step, sources, file, result.notes);
  }
  if (!found) {
    result.notes.emplace_back("gradient sizes are unknown");
    result.remedy = remedy_of(step, sources);
    return result;
  }
  check_total(*found, sources, file);
  if (sources.model && found->name != "model " + *sources.model) {
    result.notes.push_back("--model " + *sources.model + " is not used: the sizes are known from " +
                           found->words);
  }
  result.sizes = std::move(found->sizes);
  result.assumed = found->is_estimate;
  if (!found->is_estimate && !settle_by_list(step, sources, result.sizes)) {
    Settled settled = assign_buckets(step, result.sizes);
    if (found->must_fit && !settled.difference.empty()) {
      throw InputError(file, "", settled.difference + found->name);
    }
    if (std::ranges::all_of(result.sizes, [](const GradientSize& size) {
          return size.bucket == GradientSize::kNever;
        })) {
      for (GradientSize& size : result.sizes) {
        size.bucket = GradientSize::kUnknown;
      }
      settled.notes = {"no gradient is ready when a measured all-reduce is launched: the "
                       "all-reduces are taken for those of something else"};
    }
    std::ranges::move(settled.notes, std::back_inserter(result.notes));
  }
  std::int64_t sent = 0;
  std::int64_t known = 0;
  for (GradientSize& size : result.sizes) {
    if (size.bucket != GradientSize::kNever) {
      ++sent;
      known += size.tensor.elements ? 1 : 0;
      size.tensor.elements =
          size.tensor.elements.value_or(0); // unknown ones are few: they count as nothing
    }
  }
  if (known < sent) {
    result.notes.push_back(
        fmt::format("{} of {} gradients have no recorded size and count 0", sent - known, sent));
  }
  result.source = found->words;
  if (!found->is_estimate) {
    result.source += fmt::format(" ({} of {} tensors)", known, sent);
  }
  add_bytes(step, sources, result);
  if (found->is_estimate) {
    result.source += ", assumed";
    result.notes.push_back("gradient sizes are assumed: " +
                           (found->estimate.empty() ? found->words : found->estimate));
  } else if (buckets_have_sizes(step)) {
    result.source += ", checked against " +
                     counted(std::ssize(step.buckets), std::string(bucket_word(step)) + " bucket");
  }
  return result;
}

// One table layer per layer with gradients, with as many tensors as gradients.
// Layers with gradients are taken in forward order, and so are the table's.
TableFit fit_table(const StepSample& step, const layers::ModelTable& table) {
  const auto parameters = parameter_layers(table);
  const auto with_gradients = std::ranges::count_if(
      step.layers, [](const LayerSample& layer) { return layer.gradients > 0; });
  if (with_gradients != std::ssize(parameters)) {
    return {{},
            fmt::format("{} layers with gradients in the trace, {} in the table", with_gradients,
                        parameters.size())};
  }
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (step.layers[i].gradients == 0) {
      continue;
    }
    const layers::ModelLayer& layer = *parameters[next++];
    if (step.layers[i].gradients != std::ssize(layer.tensors)) {
      return {{},
              fmt::format("{} has {} tensors, {} gradients in the trace", layer.name,
                          layer.tensors.size(), step.layers[i].gradients)};
    }
    sizes[i] = ready_order(layer);
  }
  TableFit fit;
  std::vector<std::size_t> used(step.layers.size());
  for (const GradientSample& gradient : step.gradients) {
    const auto layer = static_cast<std::size_t>(gradient.layer);
    fit.sizes.push_back(sizes[layer][used[layer]++]);
  }
  return fit;
}

const layers::ModelTable& table_named(std::span<const layers::ModelTable> tables,
                                      const std::string& name) {
  std::vector<std::string_view> names;
  for (const layers::ModelTable& table : tables) {
    if (table.name == name) {
      return table;
    }
    names.push_back(table.name);
  }
  throw UsageError("--model: unknown model " + base::shown_value(name) +
                   base::did_you_mean(name, names) +
                   "; a table of your own is a FILE of kind model, see docs/file-formats.md");
}

// Operators with parameters, in their order, against the layers of the table.
std::vector<std::vector<GradientSize>>
sizes_by_kind(const StepSample& step, const layers::ModelTable& table, const std::string& file) {
  const auto parameters = parameter_layers(table);
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    const Kind kind = size_kind_of(step.layers[i].operation.get());
    if (kind == Kind::other) {
      continue;
    }
    if (next == parameters.size() || size_kind_of(parameters[next]->kind) != kind) {
      throw InputError(file, "",
                       "model " + table.name + " does not fit: operator " +
                           step.layers[i].operation.get() + " where the table has " +
                           (next == parameters.size()
                                ? "no more layers"
                                : parameters[next]->name + " (" + parameters[next]->kind + ")"));
    }
    sizes[i] = ready_order(*parameters[next++]);
  }
  if (next != parameters.size()) {
    throw InputError(
        file, "",
        fmt::format(
            "model {} does not fit: {} operators with parameters in the trace, {} in the table",
            table.name, next, parameters.size()));
  }
  return sizes;
}

} // namespace stepsim::io
