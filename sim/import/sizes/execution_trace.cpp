// Only two kinds of nodes matter: gradients, and the marks between which an iteration lies.
#include "import/sizes/size_files.hpp"

#include "base/collected.hpp"
#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kGradientNode = "torch::autograd::AccumulateGrad";
constexpr std::int64_t kMostNodeElements = std::int64_t{1} << 50;

// Lists of newer schemas are written as texts: "[[1024], []]", "['Tensor(float)']".
Json as_list(const Json* json, const std::string& file) {
  if (json == nullptr) {
    return Json(Array{});
  }
  if (!json->is_string()) {
    return *json;
  }
  std::string text = json->as_string();
  std::ranges::replace(text, '\'', '"');
  std::ranges::replace(text, '(', text.find("Tensor(") == std::string::npos ? '[' : '(');
  std::ranges::replace(text, ')', text.find("Tensor(") == std::string::npos ? ']' : ')');
  try {
    return parse_json(text, file);
  } catch (const InputError&) {
    return Json(Array{}); // values that are no JSON: nothing is known
  }
}

// "Tensor(c10::BFloat16)" -> "c10::BFloat16"; "" for what is no tensor.
std::string element_type(const std::string& type) {
  constexpr std::string_view kTensor = "Tensor(";
  if (!type.starts_with(kTensor) || !type.ends_with(')') ||
      type.find("nullptr") != std::string::npos) {
    return "";
  }
  return type.substr(kTensor.size(), type.size() - kTensor.size() - 1);
}

// The first input; a tensor that was never initialized has no size.
KinetoTensor gradient_of(const Json& node, const std::string& file) {
  const Json* inputs = node.find("inputs");
  const bool nested = inputs != nullptr && inputs->is_object();
  const Json shapes = as_list(nested ? inputs->find("shapes") : node.find("input_shapes"), file);
  const Json types = as_list(nested ? inputs->find("types") : node.find("input_types"), file);
  KinetoTensor tensor;
  if (types.is_array() && !types.as_array().empty() && types.as_array().front().is_string()) {
    tensor.dtype = element_type(types.as_array().front().as_string());
  }
  if (!shapes.is_array() || shapes.as_array().empty() || !shapes.as_array().front().is_array()) {
    return tensor;
  }
  std::int64_t elements = 1;
  for (const Json& size : shapes.as_array().front().as_array()) {
    if (!size.is_integer() || size.as_integer() < 1 ||
        elements > kMostNodeElements / size.as_integer()) {
      return tensor;
    }
    elements *= size.as_integer();
    tensor.shape.push_back(size.as_integer());
  }
  tensor.elements = tensor.dtype.empty() && tensor.shape.empty() ? 0 : elements;
  return tensor;
}

struct ListedNode { // a gradient, or a mark
  std::int64_t id{};
  const Json* json = nullptr;
};

std::vector<ListedNode> nodes_named(const Array& nodes, std::string_view name, bool whole) {
  std::vector<ListedNode> found;
  for (const Json& node : nodes) {
    const Json* text = node.find("name");
    const Json* id = node.find("id");
    if (text == nullptr || !text->is_string() || id == nullptr || !id->is_integer()) {
      continue;
    }
    if (whole ? text->as_string() == name : text->as_string().starts_with(name)) {
      found.push_back({id->as_integer(), &node});
    }
  }
  std::ranges::sort(found, {}, &ListedNode::id);
  return found;
}

// Cut behind each mark: the gradients of an iteration come before its update.
std::vector<std::vector<KinetoTensor>> cut_iterations(const std::vector<ListedNode>& gradients,
                                                      const std::vector<KinetoTensor>& tensors,
                                                      const std::vector<ListedNode>& marks) {
  std::vector<std::vector<KinetoTensor>> iterations(1);
  std::size_t mark = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    bool passed = false;
    for (; mark < marks.size() && marks[mark].id < gradients[i].id; ++mark) {
      passed = true;
    }
    if (passed && !iterations.back().empty()) {
      iterations.emplace_back();
    }
    iterations.back().push_back(tensors[i]);
  }
  return iterations;
}

} // namespace

std::vector<KinetoTensor> ExecutionTrace::one_iteration(std::optional<std::size_t> nodes) const {
  const bool equal = std::ranges::all_of(iterations, [&](const auto& each) {
    return std::ranges::equal(each, iterations.front(), {}, &KinetoTensor::elements,
                              &KinetoTensor::elements);
  });
  if (equal && (iterations.size() > 1 || !nodes)) {
    return iterations.front();
  }
  std::vector<KinetoTensor> all;
  for (const auto& iteration : iterations) {
    all.insert(all.end(), iteration.begin(), iteration.end());
  }
  if (!nodes || *nodes == 0 || all.size() % *nodes != 0) {
    return all;
  }
  for (std::size_t i = *nodes; i < all.size(); ++i) {
    if (all[i].elements != all[i - *nodes].elements) {
      return all;
    }
  }
  all.resize(*nodes);
  return all;
}

ExecutionTrace read_execution_trace(const std::string& path, std::uint64_t max_bytes) {
  ExecutionTrace trace;
  ByteSource bytes(path, max_bytes, true);
  const Json root = read_json(bytes);
  trace.file = bytes.name();
  trace.source = source_file(path, bytes.file_bytes(), bytes.digest());
  const Json* nodes = root.find("nodes");
  if (nodes == nullptr || !nodes->is_array()) {
    throw InputError(trace.file, "", "no nodes: not a PyTorch execution trace");
  }
  const Json* schema = root.find("schema");
  if (schema != nullptr && schema->is_string() && !schema->as_string().starts_with("1.0.") &&
      !schema->as_string().starts_with("1.1.")) {
    throw InputError(trace.file, "/schema",
                     "must be 1.0.1 to 1.1.x, got " + base::shown_value(schema->as_string()));
  }
  const std::vector<ListedNode> gradients = nodes_named(nodes->as_array(), kGradientNode, true);
  if (gradients.empty()) {
    throw InputError(trace.file, "",
                     "no torch::autograd::AccumulateGrad: the execution trace holds no backward "
                     "pass");
  }
  const std::vector<KinetoTensor> tensors = base::collected<KinetoTensor>(
      gradients, [&](const ListedNode& node) { return gradient_of(*node.json, trace.file); });
  for (const std::string_view mark : {"Optimizer.step#", "Optimizer.zero_grad#", "ProfilerStep#"}) {
    const std::vector<ListedNode> marks = nodes_named(nodes->as_array(), mark, false);
    trace.iterations = cut_iterations(gradients, tensors, marks);
    if (!marks.empty()) {
      break;
    }
  }
  return trace;
}

layers::Trace trace_of_sizes(const std::string& path, const ImportOptions& options) {
  const ExecutionTrace nodes = read_execution_trace(path, options.max_bytes);
  layers::Trace trace;
  trace.name = result_name(options, path);
  trace.source = make_source("pytorch-et", options);
  trace.source->files.push_back(nodes.source);
  trace.granularity = layers::Granularity::tensor;
  std::int64_t undefined = 0;
  std::int64_t untyped = 0;
  for (const KinetoTensor& gradient : nodes.one_iteration(std::nullopt)) {
    if (gradient.elements == 0) {
      ++undefined;
      continue;
    }
    const auto dtype = dtype_of_pytorch(gradient.dtype);
    untyped += dtype ? 0 : 1;
    const DtypeWord word = dtype.value_or(DtypeWord{"float32", 4});
    layers::Tensor tensor = tensor_of(gradient.elements, word);
    tensor.shape = gradient.shape;
    layers::Layer layer;
    layer.name = "gradient_" + std::to_string(trace.layers.size() + 1);
    layer.gradient_bytes = tensor.bytes;
    layer.tensors.push_back(std::move(tensor));
    trace.layers.push_back(std::move(layer));
  }
  if (trace.layers.empty()) {
    throw InputError(nodes.file, "", "no gradient has a shape");
  }
  std::ranges::reverse(trace.layers); // forward order
  add_where(trace.warnings,
            {{undefined > 0, counted(undefined, "gradient") + " without a value left out"},
             {untyped > 0, "dtype assumed: float32"},
             {true, "an execution trace has no times: layers hold sizes alone"}});
  return trace;
}

} // namespace stepsim::io
