#pragma once
// Chakra execution traces (MLCommons; INP 2.4) as values: the nodes of one rank, that is, its
// computations and communications, each with the nodes that it waits for. Traces are protocol
// buffers (.et) or JSON; both give the same nodes. Times are in microseconds, as in the files.
#include "document/file.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// launch: the call on the host that starts a collective. Its type is that of a collective, but it
// has neither operation nor size.
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
inline constexpr auto kChakraOps = base::words<ChakraOp>({{ChakraOp::all_reduce, "allreduce"},
                                                          {ChakraOp::all_gather, "allgather"},
                                                          {ChakraOp::all_to_all, "alltoall"}});

// The name of an operation in stepsim's files.
[[nodiscard]] constexpr std::string_view word_of(ChakraOp op) {
  return kChakraOps[op == ChakraOp::reduce_scatter_block ? ChakraOp::reduce_scatter : op];
}

struct ChakraNode {
  std::uint64_t id{};
  ChakraKind kind = ChakraKind::other;
  std::optional<ChakraOp> op;             // collectives only
  std::optional<std::int64_t> bytes;      // collectives only (comm_size)
  std::optional<double> start_us;         // empty: not recorded
  std::optional<double> duration_us;      // empty: not recorded
  std::optional<bool> on_host;            // is_cpu_op
  bool forward = false, backward = false; // the name says that the node is a part of this pass
  bool input_gradient = false;            // of it, that of activations ("layer_BWD_IG")
  bool step_begins = false;               // "ProfilerStep#N"
  std::string name;                       // set for collectives only
  std::string group;                      // name of the process group; empty = not recorded
  std::string dtype;                      // in stepsim's words; empty = not recorded
  std::vector<std::uint64_t> after;       // ids of the nodes that this node waits for
};

struct ChakraFile {
  std::string name; // path or "<stdin>", for error messages
  layers::SourceFile source;
  std::vector<ChakraNode> nodes; // in file order; ids are unique
  std::optional<std::int64_t> ranks;
};

// The value of an attribute: a number (0 if the value was left out), or a text.
struct ChakraValue {
  double number{};
  std::string_view text;
};

// Which numbers stand for which types and collectives. current: the schema whose files begin with
// metadata (0.0.4, since 2023); without_metadata: the schema before it.
enum class ChakraSchema : std::uint8_t { current, without_metadata };

// What is wrong with a node or a message; whoever reads the file adds the place.
struct ChakraProblem {
  std::string message;
};

// The set_ functions set a member from a value of the file. Those of numbers throw ChakraProblem
// for a value that cannot be. set_attribute() ignores unknown names, and set_start() takes 0 as not
// recorded.
void set_attribute(ChakraNode& node, std::string_view name, const ChakraValue& value,
                   ChakraSchema schema);
void set_duration(ChakraNode& node, double microseconds);
void set_start(ChakraNode& node, double microseconds);
void set_type(ChakraNode& node, std::uint64_t type, ChakraSchema schema);
void set_name(ChakraNode& node, std::string_view name);
// Sets the dtype from the types of the inputs, "['Tensor(float)']".
void set_types(ChakraNode& node, std::string_view types);
// Call it last: makes a collective without an operation a launch, and reads the dtype from the name
// of the kernel if the inputs do not give it.
void complete(ChakraNode& node);

// Largest number of nodes in a trace.
inline constexpr std::size_t kMostChakraNodes = 2'000'000;

// Reads JSON or protocol buffers, also compressed or as the only file of a tar archive. Throws
// InputError for a file that is damaged, larger than `max_bytes` or without nodes, for an id that
// appears twice, and for numbers out of range.
[[nodiscard]] ChakraFile read_chakra(const std::string& path, std::uint64_t max_bytes);

// Whether all compute nodes and all collectives have a start time.
[[nodiscard]] bool starts_give_order(const ChakraFile& file);

// The positions of the nodes in the order in which they run. If all compute nodes and collectives
// have a start, the order is by start, and a node of another kind without one counts as starting at
// 0. Otherwise every node comes after the nodes it waits for, the smallest id first; an id that is
// not in the file, or its own, is not waited for. Throws InputError if nodes wait for each other in
// a cycle.
[[nodiscard]] std::vector<std::size_t> running_order(const ChakraFile& file);

// Reads execution traces as JSON, in the two common forms: one object with the list
// `workload_graph` (Id, Name, NodeType, data_deps, runtime, comm_type, comm_size), or the output of
// chakra_jsonizer, with one object after the other for the messages of the protocol buffers (id,
// name, type, dataDeps, durationMicros, attr).
// Whether a file that begins with { or [ is JSON, by the text after the bracket. Else the bracket
// is the length of the first message of a protocol buffer: { is byte 123, [ is byte 91.
[[nodiscard]] bool looks_like_json(std::string_view behind_bracket);

// `first` is the chunk that source.next() has already returned. Throws InputError, with the pointer
// of the node if the problem lies in one.
[[nodiscard]] ChakraFile read_chakra_json(ByteSource& source, std::string_view first);

// Reads execution traces as protocol buffers: each message follows its length, a varint. The first
// message is the metadata of the file, all others are nodes. A file whose first message is a node
// follows the schema of early 2023, in which types and attributes have other numbers.
// `first` is the chunk that source.next() has already returned. Throws InputError
// `x.et: message 17 at byte 4321: ...`.
[[nodiscard]] ChakraFile read_chakra_protobuf(ByteSource& source, std::string_view first);

// Whether the beginning of a file is that of such a trace: metadata, which files of early 2023
// lack, then a node with a name.
[[nodiscard]] bool looks_like_chakra(std::string_view head);

// Reads the wire format of protocol buffers, as far as execution traces need it. A message is a
// sequence of fields, each a key (field number and wire type, as a varint) and a value: a varint,
// four or eight bytes, or a length and as many bytes (a text, another message, packed numbers).
// Nothing is copied or recursive, and every length is checked against the bytes left.

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number{};
  WireType type = WireType::varint;
  std::uint64_t value{};    // set for varint, fixed64 and fixed32
  std::string_view bytes{}; // set for bytes
};

// Reads a number of at most ten bytes, the least significant seven bits first, and removes it from
// `bytes`. Empty if the bytes end early or the number needs more than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> take_varint(std::string_view& bytes);

// Removes the first field from a message that is not empty. Throws ChakraProblem for damaged bytes.
[[nodiscard]] WireField take_field(std::string_view& message);

// Calls `visit` for every field of a message, in order.
template <class Visit> void each_field(std::string_view message, const Visit& visit) {
  while (!message.empty()) {
    visit(take_field(message));
  }
}

// Decodes a signed integer of type sint32 or sint64: 0, 1, 2, 3 stand for 0, -1, 1, -2.
[[nodiscard]] constexpr std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

} // namespace stepsim::io
