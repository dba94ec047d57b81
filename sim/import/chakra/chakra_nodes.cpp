// What both forms of a trace have in common: the meaning of attributes, types and names, and the
// order of the nodes.
#include "import/chakra/chakra_nodes.hpp"

#include <numeric>
#include <queue>
#include <unordered_map>

#include "base/collected.hpp"
#include "document/csv.hpp"
#include "import/kineto/kineto_events.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

// A time or a size that a double holds exactly.
constexpr double kMostNumber = 9007199254740992.0; // 2^53

void require(bool good, std::string_view what, double number) {
  if (!good) {
    throw ChakraProblem{
        fmt::format("{}: must be an integer from 0 to 2^53, got {}", what, base::shortest(number))};
  }
}

// Collectives of the schema without metadata, by number.
constexpr std::array kOldOps{ChakraOp::all_reduce, ChakraOp::all_to_all, ChakraOp::all_gather,
                             ChakraOp::reduce_scatter};

std::optional<ChakraOp> operation_of(double number, ChakraSchema schema) {
  const bool current = schema == ChakraSchema::current;
  const std::size_t count = current ? kChakraOps.all().size() : kOldOps.size();
  if (!(number >= 0) || number >= static_cast<double>(count) ||
      number != static_cast<double>(static_cast<std::size_t>(number))) {
    return std::nullopt;
  }
  const auto index = static_cast<std::size_t>(number);
  return current ? static_cast<ChakraOp>(index) : kOldOps[index];
}

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)": the type is one of the words of the name.
std::string_view dtype_of_kernel(std::string_view name) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kWords{
      Row{"f32", "float32"},  Row{"float", "float32"},  Row{"f16", "float16"},
      Row{"half", "float16"}, Row{"bf16", "bfloat16"},  Row{"bfloat16", "bfloat16"},
      Row{"f64", "float64"},  Row{"double", "float64"}, Row{"i32", "int32"},
      Row{"i64", "int64"},    Row{"int64", "int64"},    Row{"i8", "int8"},
      Row{"int8", "int8"},    Row{"u8", "uint8"},       Row{"uint8", "uint8"},
  };
  for (const std::string_view word : split(name.substr(0, name.find('(')), '_')) {
    if (const auto row = std::ranges::find(kWords, word, &Row::first); row != kWords.end()) {
      return row->second;
    }
  }
  return {};
}

// Each node behind those that it waits for; of those that may run, the smallest id first. Nodes
// that are not in the file are not waited for.
std::vector<std::size_t> by_dependencies(const ChakraFile& file) {
  const std::size_t count = file.nodes.size();
  std::unordered_map<std::uint64_t, std::size_t> place; // only looked up, never walked
  place.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    place.emplace(file.nodes[i].id, i);
  }
  std::vector<std::vector<std::size_t>> followers(count);
  std::vector<std::size_t> waits(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint64_t id : file.nodes[i].after) {
      if (const auto found = place.find(id); found != place.end() && found->second != i) {
        followers[found->second].push_back(i);
        ++waits[i];
      }
    }
  }
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waits[i] == 0) {
      ready.emplace(file.nodes[i].id, i);
    }
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::size_t node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (const std::size_t next : followers[node]) {
      if (--waits[next] == 0) {
        ready.emplace(file.nodes[next].id, next);
      }
    }
  }
  if (order.size() < count) {
    const auto stuck = std::ranges::find_if(waits, [](std::size_t w) { return w > 0; });
    throw InputError(file.name, "",
                     fmt::format("node {} waits for itself through its dependencies",
                                 file.nodes[static_cast<std::size_t>(stuck - waits.begin())].id));
  }
  return order;
}

} // namespace

void set_attribute(ChakraNode& node, std::string_view name, const ChakraValue& value,
                   ChakraSchema schema) {
  const double number = value.number;
  if (name == "comm_type") {
    node.op = operation_of(number, schema);
    if (!node.op) {
      throw ChakraProblem{"comm_type: unknown, " + base::shortest(number)};
    }
  } else if (name == "comm_size") {
    require(number >= 0 && number <= kMostNumber && number == std::floor(number), name, number);
    node.bytes = static_cast<std::int64_t>(number);
  } else if (name == "is_cpu_op") {
    node.on_host = number != 0;
  } else if (name == "pg_name") {
    node.group = value.text.empty() ? base::shortest(number) : std::string(value.text);
  } else if (name == "runtime") {
    set_duration(node, number);
  }
}

void set_duration(ChakraNode& node, double microseconds) {
  require(microseconds >= 0 && microseconds <= kMostNumber, "duration", microseconds);
  node.duration_us = microseconds;
}

void set_start(ChakraNode& node, double microseconds) {
  require(microseconds >= 0 && microseconds <= 2 * kMostNumber, "start", // stamps since 1970 fit
          microseconds);
  if (microseconds > 0) {
    node.start_us = microseconds;
  }
}

void set_type(ChakraNode& node, std::uint64_t type, ChakraSchema schema) {
  // The current schema has a type for metadata in front of all others.
  const std::uint64_t number = schema == ChakraSchema::current ? type : type + 1;
  node.kind = number == 4                  ? ChakraKind::compute
              : number == 5 || number == 6 ? ChakraKind::send_or_receive
              : number == 7                ? ChakraKind::collective
                                           : ChakraKind::other;
}

// Names of backward nodes: aten::nll_loss_backward, ConvolutionBackward0, COMP_NODE_conv1_BWD_WG.
void set_name(ChakraNode& node, std::string_view name) {
  constexpr std::size_t kLongest = 256; // templates of kernels have thousands
  const std::string_view head = name.substr(0, kLongest);
  const std::string small = lower_case(head);
  const auto has = [&](std::string_view part) { return small.find(part) != std::string::npos; };
  node.backward = has("backward") || has("_bwd");
  node.input_gradient = has("_bwd_ig");
  node.forward = !node.backward && (has("forward") || has("_fwd"));
  node.step_begins = head.starts_with("ProfilerStep#");
  node.name = head;
}

void set_types(ChakraNode& node, std::string_view types) {
  constexpr std::string_view kTensor = "Tensor(";
  const std::size_t begin = types.find(kTensor);
  if (begin == std::string_view::npos) {
    return;
  }
  const std::string_view rest = types.substr(begin + kTensor.size());
  if (const auto word = dtype_of_pytorch(rest.substr(0, rest.find(')')))) {
    node.dtype = word->word;
  }
}

void complete(ChakraNode& node) {
  if (node.kind == ChakraKind::collective && !node.op) {
    node.kind = ChakraKind::launch;
  }
  if (node.kind != ChakraKind::collective) {
    node.name = {}; // names take more memory than all the rest
    node.dtype = {};
  } else if (node.dtype.empty()) {
    node.dtype = dtype_of_kernel(node.name);
  }
}

ChakraFile read_chakra(const std::string& path, std::uint64_t max_bytes) {
  ByteSource source(path, max_bytes, true);
  std::string_view chunk = source.next();
  if (chunk.empty()) {
    throw InputError(source.name(), "", "empty");
  }
  const std::size_t begin = chunk.find_first_not_of(" \t\r\n");
  // The first byte of a protocol buffer is the length of its first message; 0x7b and 0x5b, the
  // brackets of JSON, may be lengths, too, but are then not followed by a text in quotes.
  const bool json = begin != std::string_view::npos &&
                    (chunk[begin] == '{' || chunk[begin] == '[') &&
                    looks_like_json(chunk.substr(begin + 1));
  ChakraFile file = json ? read_chakra_json(source, chunk) : read_chakra_protobuf(source, chunk);
  if (file.nodes.empty()) {
    throw InputError(file.name, "", "no nodes: not an execution trace of Chakra");
  }
  std::vector<std::uint64_t> ids = base::collected<std::uint64_t>(file.nodes, &ChakraNode::id);
  std::ranges::sort(ids);
  if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end()) {
    throw InputError(file.name, "", fmt::format("node {} appears twice", *twice));
  }
  return file;
}

bool starts_give_order(const ChakraFile& file) {
  return std::ranges::all_of(file.nodes, [](const ChakraNode& node) {
    const bool counts = node.kind == ChakraKind::compute || node.kind == ChakraKind::collective;
    return node.start_us.has_value() || !counts;
  });
}

std::vector<std::size_t> running_order(const ChakraFile& file) {
  if (!starts_give_order(file)) {
    return by_dependencies(file);
  }
  std::vector<std::size_t> order(file.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return file.nodes[i].start_us.value_or(0); });
  return order;
}

} // namespace stepsim::io
