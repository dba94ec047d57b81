#pragma once
// Execution traces of Chakra (MLCommons; INP 2.4) as values: the nodes of one rank, which are what
// it computes and communicates, with the nodes that each of them waits for. Traces are written as
// protocol buffers (.et) or as JSON; both become the same nodes. Times are microseconds, as in the
// files.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

// launch: the call on the host that starts a collective; it has the type of a collective, but says
// neither which one nor of what size.
enum class ChakraKind : std::uint8_t { other, compute, send_or_receive, collective, launch };

// In the order of the numbers in the files (comm_type).
enum class ChakraOp : std::uint8_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  reduce_scatter_block,
  barrier
};
inline constexpr auto kChakraOps = base::words<ChakraOp>({
    {ChakraOp::all_reduce, "allreduce"},
    {ChakraOp::reduce, "reduce"},
    {ChakraOp::all_gather, "allgather"},
    {ChakraOp::gather, "gather"},
    {ChakraOp::scatter, "scatter"},
    {ChakraOp::broadcast, "broadcast"},
    {ChakraOp::all_to_all, "alltoall"},
    {ChakraOp::reduce_scatter, "reduce_scatter"},
    {ChakraOp::reduce_scatter_block, "reduce_scatter_block"},
    {ChakraOp::barrier, "barrier"},
});

// The word of a kind of collective in our files.
[[nodiscard]] constexpr std::string_view word_of(ChakraOp op) {
  return kChakraOps[op == ChakraOp::reduce_scatter_block ? ChakraOp::reduce_scatter : op];
}

struct ChakraNode {
  std::uint64_t id{};
  ChakraKind kind = ChakraKind::other;
  std::optional<ChakraOp> op;             // of a collective
  std::optional<std::int64_t> bytes;      // of a collective (comm_size)
  std::optional<double> start_us;         // empty: not recorded
  std::optional<double> duration_us;      // empty: not recorded
  std::optional<bool> on_host;            // is_cpu_op
  bool forward = false, backward = false; // by its name: a part of this pass
  bool step_begins = false;               // "ProfilerStep#N"
  std::string name;                       // of collectives alone
  std::string group;                      // name of the process group; empty = not recorded
  std::string dtype;                      // our word; empty = not recorded
  std::vector<std::uint64_t> after;       // ids of the nodes that it waits for
};

struct ChakraFile {
  std::string name; // for messages
  train::SourceFile source;
  std::vector<ChakraNode> nodes; // in the order of the file; ids are unique
  std::optional<std::int64_t> ranks;
};

// A value of an attribute: a number (0 for a value that was left out), or a text.
struct ChakraValue {
  double number{};
  std::string_view text;
};

// Numbers of types and collectives: those of the schema with metadata (0.0.4, since 2023), or of
// the one before it.
enum class ChakraSchema : std::uint8_t { current, without_metadata };

// Each sets what the value says; the result is what is wrong with it, empty if nothing is.
[[nodiscard]] std::string set_attribute(ChakraNode& node, std::string_view name,
                                        const ChakraValue& value, ChakraSchema schema);
[[nodiscard]] std::string set_duration(ChakraNode& node, double microseconds);
[[nodiscard]] std::string set_start(ChakraNode& node, double microseconds);
void set_type(ChakraNode& node, std::uint64_t type, ChakraSchema schema);
void set_name(ChakraNode& node, std::string_view name);
// From the types of the inputs, "['Tensor(float)']".
void set_types(ChakraNode& node, std::string_view types);
// Called last: a collective without an operation is a launch, and a type of its values that the
// inputs do not name is read from the name of its kernel.
void complete(ChakraNode& node);

// A trace may hold this many nodes.
inline constexpr std::size_t kMostChakraNodes = 2'000'000;

// Reads either form, packed or in an archive of its own. Throws InputError: damaged, larger than
// `max_bytes`, no nodes, an id that appears twice, numbers out of range.
[[nodiscard]] ChakraFile read_chakra(const std::string& path, std::uint64_t max_bytes);

// The positions of the nodes in the order in which they run: by their starts if all compute nodes
// and collectives have one, else each node behind those that it waits for, the smallest id first.
// Throws InputError where nodes wait for each other in a circle.
[[nodiscard]] std::vector<std::size_t> running_order(const ChakraFile& file);

} // namespace stepsim::io
