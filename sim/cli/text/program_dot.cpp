#include "cli/text/dot.hpp"

#include <vector>

#include "base/quantity.hpp"

namespace stepsim::cli {

namespace {

using programs::Operation;
using programs::Program;

std::string node_text(const Operation& operation, bool critical) {
  const std::string label = operation.id + "  " + base::readable_seconds(operation.duration_s());
  return dot_quoted(operation.id) + " [label=" + dot_quoted(label) +
         (critical ? ", style=bold" : "") + "];\n";
}

} // namespace

std::string program_dot(const Program& program, const programs::BindingPath& path,
                        std::string_view name) {
  std::vector<bool> bold(program.operations.size(), false);
  // On a critical cycle, the operation that each one leads to.
  std::vector<std::uint32_t> next(program.operations.size(), programs::kAllRanks);
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    bold[path.steps[i].operation] = true;
    if (path.exact) {
      next[path.steps[i].operation] = path.steps[(i + 1) % path.steps.size()].operation;
    }
  }
  std::string out = "digraph " + dot_quoted(name) +
                    " {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", shape=box];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    out += "  subgraph " + dot_quoted("cluster_" + std::to_string(s)) +
           " {\n    label=" + dot_quoted(program.streams[s].name) + ";\n";
    std::string chain;
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      const Operation& operation = program.operations[o];
      if (operation.stream == s) {
        out += "    " + node_text(operation, bold[o]);
        chain += (chain.empty() ? "" : " -> ") + dot_quoted(operation.id);
      }
    }
    // The order of the stream.
    out += chain.empty() ? "  }\n" : "    " + chain + " [style=invis];\n  }\n";
  }
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    for (const programs::Wait& wait : program.waits_of(o)) {
      const std::string first =
          wait.until != programs::kAlways ? ", first " + std::to_string(wait.until) : "";
      const std::string distance =
          wait.distance > 0 ? "label=\"" + std::to_string(wait.distance) + first + "\"" : "";
      const std::string style = std::string(wait.distance > 0 ? "dashed" : "solid") +
                                (next[wait.operation] == o ? ",bold" : "");
      out += "  " + dot_quoted(program.operations[wait.operation].id) + " -> " +
             dot_quoted(program.operations[o].id) + " [style=\"" + style + "\"" +
             (distance.empty() ? "" : ", " + distance) + "];\n";
    }
  }
  return out + "}\n";
}

} // namespace stepsim::cli
