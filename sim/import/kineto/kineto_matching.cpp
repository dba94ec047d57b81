// Sequence numbers are exact where they were recorded; profilers until 2021 have none.
#include "import/kineto/kineto_names.hpp"

namespace stepsim::io {

namespace {

// "aten::max_pool2d" -> "maxpool2d", to be compared with "MaxPool2DBackward0".
std::string plain_name(std::string_view operation) {
  if (operation.starts_with("aten::")) {
    operation.remove_prefix(6);
  }
  std::string plain;
  for (const char c : operation) {
    if (c != '_') {
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    }
  }
  return plain;
}

// "autograd::engine::evaluate_function: AddmmBackward0" -> "addmm".
std::string node_operation(std::string_view name) {
  if (name.starts_with(kBackwardPrefix)) {
    name.remove_prefix(kBackwardPrefix.size());
  }
  return plain_name(is_backward_name(name) ? name.substr(0, name.rfind("Backward")) : name);
}

struct ForwardOperator {
  Nanoseconds begin{};
  std::int32_t top{};
};

// Forward operators in order of start, and the positions of those with a name, ascending.
struct ForwardOperators {
  std::vector<ForwardOperator> list;
  std::map<std::string, std::vector<std::size_t>> by_name;

  // The last position before `end` of an operator that is called `name` or `name`forward..; `end`
  // if there is none.
  [[nodiscard]] std::size_t last_named(const std::string& name, std::size_t end) const {
    std::size_t found = end;
    const auto look = [&](const std::vector<std::size_t>& positions) {
      const auto after = std::ranges::lower_bound(positions, end);
      if (after != positions.begin() && (found == end || *(after - 1) > found)) {
        found = *(after - 1);
      }
    };
    if (const auto same = by_name.find(name); same != by_name.end()) {
      look(same->second);
    }
    const std::string prefix = name + "forward";
    for (auto row = by_name.lower_bound(prefix);
         row != by_name.end() && row->first.starts_with(prefix); ++row) {
      look(row->second);
    }
    return found;
  }
};

// The pointer stands behind the operators that have no node yet. It starts anew where the forward
// thread has worked between two nodes, since another forward pass has then begun. A node that has a
// layer by its number keeps it, and moves the pointer to that operator.
void match_names(const KinetoRecording& recording, const Attribution& attribution,
                 const ForwardOperators& operators, std::vector<NodeMatch>& matches) {
  std::size_t pointer = 0;
  std::size_t known = 0; // operators that began before the node
  for (NodeMatch& match : matches) {
    const TopOperator& node = attribution.top(match.node);
    const std::size_t before = known;
    while (known < operators.list.size() && operators.list[known].begin < node.begin) {
      ++known;
    }
    pointer = known > before ? known : pointer;
    if (match.layer >= 0) {
      const auto own =
          std::ranges::lower_bound(operators.list, match.layer, {}, &ForwardOperator::top);
      pointer = static_cast<std::size_t>(own - operators.list.begin());
      continue;
    }
    const std::string operation = node_operation(recording.name(recording.event(node.event)));
    const std::size_t found = operators.last_named(operation, pointer);
    match.layer = found < pointer ? operators.list[found].top : -1;
    pointer = found;
  }
}

} // namespace

std::vector<NodeMatch> match_nodes(const KinetoRecording& recording, const Attribution& attribution,
                                   const KinetoIndex& index, std::size_t step) {
  std::vector<NodeMatch> matches;
  std::size_t matched = 0;
  for (const std::int32_t node : index.nodes(step)) {
    if (index.kind(node) == NodeKind::backward) {
      const std::int32_t layer =
          index.forward_of(step, recording.event(attribution.top(node).event).sequence);
      matches.push_back({node, layer});
      matched += layer >= 0 ? 1 : 0;
    }
  }
  if (2 * matched < matches.size()) {
    ForwardOperators operators;
    for (const std::int32_t at : index.forward_operators(step)) {
      const Operator& op = attribution.operators[static_cast<std::size_t>(at)];
      const KinetoEvent& event = recording.event(op.event);
      operators.by_name[plain_name(recording.name(event))].push_back(operators.list.size());
      operators.list.push_back({event.begin, op.top});
    }
    match_names(recording, attribution, operators, matches);
  }
  return matches;
}

} // namespace stepsim::io
