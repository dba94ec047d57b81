#pragma once
// The keys of a file of kind collective (COL, SPA 3 and 11): one collective operation with its
// ranks, bytes, links and algorithm. Keys that a scenario has, too, reuse the rows of the scenario,
// some with another sentence or range. Most flags of `stepsim collective` are named like the key
// that they set, without its unit: --latency sets latency_s (cli/collective/collective_flags.cpp).
//
//     {"kind": "collective", "op": "allreduce", "algorithm": "ring", "ranks": 8, "bytes": 1e8,
//      "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}}

#include "collectives/record.hpp"
#include "scenario/files/keys/topology_keys.hpp"
#include "scenario/keys/scenario_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// The words of `algorithm`: the algorithms of all operations, auto, library, and the compressed
// exchanges. The words of `candidates` are the algorithms of all operations.
[[nodiscard]] std::vector<std::string_view> collective_algorithms();
[[nodiscard]] std::vector<std::string_view> collective_candidates();

// The row of the key `name` in another table. The table must have the key (else compiling fails).
consteval io::Key shared_row(std::span<const io::Key> rows, std::string_view name) {
  return *std::ranges::find(rows, name, &io::Key::name);
}
consteval io::Key shared_option(std::string_view name) { return shared_row(kCollectiveKeys, name); }
consteval io::Key shared_compression(std::string_view name) {
  return shared_row(kCompression, name);
}

// The rows of a table from the key `first` on, up to the key `last`.
consteval std::span<const io::Key> rows_between(std::span<const io::Key> rows,
                                                std::string_view first, std::string_view last) {
  const auto from = std::ranges::find(rows, first, &io::Key::name);
  return {from, std::ranges::find(from, rows.end(), last, &io::Key::name) + 1};
}

inline constexpr std::array kCollectiveNetworkForms{
    object("network", rows_between(kNetwork, "latency_s", "calibration"),
           kNetworkForms.front().sentence)
        .example(kNetworkForms.front().example_json),
    kNetworkForms.back()};
inline constexpr std::array kCollectiveIntraForms{
    object("intra_network", rows_between(kIntraKeys, "latency_s", "calibration"),
           kIntraForms.front().sentence),
    kIntraForms.back()};

inline constexpr std::array kAnyCandidate{
    word("candidates", collective_candidates, "An algorithm of the operation.")};

// Help lists the parameters in this order, too.
inline constexpr std::array kCollectiveOptions{
    list("candidates", kAnyCandidate,
         "Algorithms that auto chooses from. The default is all that fit.", R"(["ring", "lp"])")
        .sizes(1),
    shared_option("block_bytes"),
    shared_row(kTraining, "servers")
        .says("Number of parameter servers.")
        .by_default(1, "the fewest there can be"),
    shared_row(kTraining, "placement"),
    shared_option("reduction_mode"),
    shared_option("chunking")
        .says("Whether a chunk has whole elements, or exactly its part.")
        .by_default("integer", "a chunk has whole elements"),
    shared_option("element_bytes").in(io::between(1, 1e6)),
    shared_option("cost_form"),
    shared_option("lp_last_hop"),
    shared_option("ring_startup"),
    shared_option("exchange_sizes"),
    shared_option("intra_algorithm"),
    shared_option("inter_algorithm"),
    shared_option("pipeline_chunks")};

inline constexpr std::array kTensorLength{
    integer("shapes", "Length of a dimension.", io::between(1, io::kMostExact), "64")};
inline constexpr std::array kTensorShape{
    list("shapes", kTensorLength, "Dimensions of one tensor.", "[64, 32]").sizes(1)};

// The range of `k` is wide, because k is checked against the number of values in a message, which
// follows from bytes and value_bytes. The other bounds keep products of these numbers exact.
inline constexpr std::array kCollectiveCompression{
    shared_compression("density"),
    shared_compression("k")
        .says("Number of selected entries, instead of density.")
        .in(io::between(0, io::kMostExact)),
    shared_compression("index_bytes").in(io::between(1, 64)),
    shared_compression("value_bytes")
        .says("Bytes of a value as it is sent. The default is that of element_type.")
        .in(io::between(1, 64)),
    shared_compression("allgather"),
    shared_compression("broadcast"),
    shared_compression("split_values_indices"),
    shared_compression("round_barriers"),
    shared_compression("support_overlap"),
    shared_compression("count_scale_bytes"),
    shared_compression("scale_agreement"),
    shared_compression("selected_ratio"),
    shared_compression("bits"),
    shared_compression("bucket").in(io::between(1, 1e9)),
    shared_compression("rank"),
    shared_compression("block").in(io::between(1, 1e9)),
    shared_compression("ratio"),
    shared_compression("encode_Bps"),
    shared_compression("decode_Bps"),
    shared_compression("exchange"),
    shared_compression("bytes_per_worker"),
    list("shapes", kTensorShape,
         "Shapes of the tensors for powersgd. The default is one tensor of one dimension.",
         "[[1024, 1024], [1000]]")
        .sizes(1)};

inline constexpr std::array kRankBytes{
    integer("sizes", "Bytes of one rank.", io::between(0, io::kMostExact), "1000")};
inline constexpr std::array kSizesForms{
    list("sizes", kRankBytes, "One number for every rank.", "[1000, 2000]"),
    text("sizes", "File with the list.", R"("sizes.json")")};

inline constexpr std::array kEntryForms{
    list("enter_s", io::keys::kRankEntry, "One time for every rank.", "[0, 0.001]"),
    text("enter_s", "File with the list.", R"("entry.json")")};
inline constexpr std::array kLate{
    number("late_s", "Time by which one rank enters later, s.", io::at_least(0), "0.001")};

inline constexpr std::array kLinksForms{
    object("links", io::keys::kLinksKeys, "The links themselves, as in a file of kind links."),
    text("links", "File of kind links.", R"("links.json")")};

inline constexpr std::array kCollectiveFileKeys{
    word("op", collectives::kOps, "Operation.").required(),
    word("algorithm", collective_algorithms,
         "Algorithm of the operation, auto for the fastest, library for what a collective library "
         "does, or a compressed all-reduce.",
         R"("ring")")
        .required(),
    integer("ranks", "Number of ranks.", io::between(1, kMaxRanks), "8"),
    text("shape", "Nodes and GPUs per node, such as 10x8, instead of ranks and gpus_per_node.",
         R"("10x8")"),
    integer("bytes",
            "Bytes of the vector, for reduce_scatter and allgather of the whole buffer, for "
            "alltoall of "
            "the send buffer of one rank, and for a compressed exchange of the dense gradient.",
            io::between(0, io::kMostExact), "100000000"),
    integer("elements", "Elements of the vector, instead of bytes.", io::between(0, io::kMostExact),
            "25000000"),
    word("element_type", nccl::kElementTypes,
         "Type of the elements. It gives the bytes of an element and, with algorithm library, says "
         "whether the switch of a node can add them.")
        .by_default("fp32"),
    either("sizes", kSizesForms, "Bytes of every rank of an allgatherv, instead of bytes.",
           "[1000, 2000]"),
    integer("root", "Rank that a broadcast starts from, or that a reduce ends at.")
        .in(io::between(0, kMaxRanks))
        .by_default(0),
    either("network", kCollectiveNetworkForms, shared_row(kCluster, "network").sentence)
        .example(kNetworkForms.front().example_json),
    either("links", kLinksForms,
           "Latency and bandwidth of single pairs of ranks, and numbers of single ranks.",
           R"("links.json")"),
    either("enter_s", kEntryForms,
           "When every rank enters, s; it replaces the times of links. The default is 0.",
           "[0, 0.001]"),
    map("late_s", kLate, "Ranks that enter later than otherwise, and by how much, {rank: seconds}.",
        R"({"3": 0.001})")
        .named_like("^[0-9]+$"),
    either("topology", kTopologyForms,
           "Hosts, switches and links that messages share (method events); latency and bandwidth "
           "of network come on top.",
           R"("leaf_spine_2to1")"),
    integer("gpus_per_node",
            "Ranks of a node. The default is that of shape or preset, or of a machine of the "
            "topology, else 1.",
            io::between(1, kMaxRanks), "8"),
    kRanksPerNode,
    integer("nics_per_node",
            "Network interfaces of a node, which its ranks share. The default is that of the "
            "preset, but not more than one per rank of a node, else 1.",
            io::between(1, kMaxRanks), "4"),
    shared_row(kCluster, "nvlink_domain_nodes"),
    kNvlsRate,
    kNvlsStartup,
    kSwitchLatency,
    either("intra_network", kCollectiveIntraForms, shared_row(kCluster, "intra_network").sentence)
        .example(shared_row(kCluster, "intra_network").example_json),
    kPresetKey,
    kLibraryKey,
    object("options", kCollectiveOptions, "How the algorithm runs.", R"({"cost_form": "paper"})"),
    object("compression", kCollectiveCompression, "What a compressed exchange sends.",
           R"({"density": 0.001})"),
    word("method", collectives::kAskedMethods,
         "Evaluator: auto takes the cheapest that is exact, all takes all of them.")
        .by_default("auto"),
    kAllowUnusual};

inline constexpr io::Key kCollectiveFile =
    io::rows::object("collective", kCollectiveFileKeys,
                     "One collective operation: how long does it take, and how far is that from "
                     "the lower bound?")
        .exactly_one("bytes|sizes|elements")
        .at_least_one("ranks|shape|ranks_per_node");

[[nodiscard]] io::FileKind collective_file();

} // namespace stepsim::study::keys
