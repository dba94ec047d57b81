// Messages come from the schedule that the simulator evaluates (element_messages.hpp); here they
// are marked and sorted into steps of one process.
#include "calibrate/mpi/process_program.hpp"

#include <cassert>

#include "collectives/evaluate/measured_steps.hpp"

namespace stepsim::calibrate::mpi {

using collectives::AlgorithmId;
using collectives::Op;

std::string_view algorithm_name(const Kind& kind) {
  return kind.sparse ? "gtopk_tree" : collectives::name(kind.algorithm);
}

std::string name(const Kind& kind) {
  return std::string(algorithm_name(kind)) + " " + std::string(collectives::name(kind.op));
}

std::span<const Kind> kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> dense(dense_kinds().begin(), dense_kinds().end());
    dense.push_back({Op::allreduce, AlgorithmId::recursive_doubling});
    dense.push_back({Op::allreduce, AlgorithmId::mst, true});
    return dense;
  }();
  return all;
}

// A block of lp is one segment, so that a message of it never waits for a second one.
std::vector<Message> messages_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                 const MessageOptions& options) {
  assert(bytes % kElement == 0 && "whole elements");
  collectives::Collective collective = collective_of(kind, ranks, bytes);
  if (kind.algorithm == AlgorithmId::lp) {
    collective.options.block = Bytes{std::min(options.segment_bytes, bytes)};
  }
  if (kind.sparse) {
    collective.options.tree = collectives::TreeShape::near_first; // the order of merges (SPA 4)
  }
  std::vector<Message> messages;
  for (const ElementMessage& message : element_messages(collective)) {
    messages.push_back(
        {message, options.acknowledge &&
                      collectives::is_answered(collective, message.step, message.reduce)});
  }
  return messages;
}

// Messages stand in program order, so that those of one step follow each other.
Program program_of(const Kind& kind, std::uint32_t ranks, std::uint32_t rank, std::int64_t bytes,
                   const MessageOptions& options) {
  Program program{kind, bytes, {}};
  for (const Message& message : messages_of(kind, ranks, bytes, options)) {
    if (message.src != rank && message.dst != rank) {
      continue;
    }
    if (program.steps.empty() || program.steps.back().number != message.step) {
      program.steps.push_back({message.step, std::nullopt, std::nullopt});
    }
    (message.src == rank ? program.steps.back().send : program.steps.back().receive) = message;
  }
  return program;
}

} // namespace stepsim::calibrate::mpi
