#include "cli/text/topology_text.hpp"

#include "base/number_text.hpp"
#include "base/printable.hpp"
#include "cli/shell/table.hpp"

namespace stepsim::cli {

namespace {

// Rates in GB/s with the spread of what was measured, counts as they are.
std::string sourced_text(const io::SourcedNumber& number) {
  if (!number.key.ends_with("_Bps")) {
    return base::shortest(number.value);
  }
  const auto rate = [](double Bps) { return base::significant(Bps / 1e9); };
  return rate(number.value) + " GB/s" +
         (number.low < number.high ? " (" + rate(number.low) + " to " + rate(number.high) + ")"
                                   : "");
}

} // namespace

std::string node_text(const io::NodePreset& preset) {
  const nccl::NodeType& node = preset.node;
  std::string out = base::printable(node.name) + ": node type, label " + preset.label + "\n";
  out += preset.gpu.empty() ? "" : base::printable(preset.gpu) + "\n";
  out += preset.note.empty() ? "" : base::printable(preset.note) + "\n";
  out += "link " + std::string(nccl::kInnerLinks[node.link]) + ", constants of " +
         std::string(nccl::kGenerations[node.generation]) + " GPUs on " +
         std::string(nccl::kHosts[node.host]) + " hosts, " +
         (node.in_switch_reduction ? "the switch of a node adds (NVLS)"
                                   : "no switch inside a node adds") +
         (node.ll128 ? "" : ", no LL128") + "\n\n";
  Table table{{"key", "value", "label", "source"}, {}};
  for (const io::SourcedNumber& number : preset.numbers) {
    table.rows.push_back({number.key, sourced_text(number),
                          number.label.empty() ? "-" : number.label,
                          number.source.empty() ? "-" : base::printable(number.source)});
  }
  return out + table_text(table);
}

} // namespace stepsim::cli
