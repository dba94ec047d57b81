#pragma once
// The keys of a file of kind program: a training algorithm as operations on streams with waits
// (TRN 2.1, 8.3), as in programs/training_program.hpp.

#include "collectives/algorithms.hpp"
#include "scenario/keys/cluster_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr double kMostProgramIterations = 1e7;
inline constexpr std::int64_t kMostDistance = 1 << 30; // iterations that a wait looks back
// Upper limit of seconds and slowdowns, so that no sum over operations and iterations overflows.
inline constexpr double kMostTime = 1e100;

// The collectives that an exchange may name to get its time.
inline constexpr std::array<std::string_view, 5> kProgramCollectives{
    "allreduce", "reduce", "broadcast", "reduce_scatter", "allgather"};

inline constexpr std::array kProgramStreamKeys{
    text("name", "Name of the stream; compute, reduce and gather are customary.", R"("compute")")
        .required(),
    word("discipline", programs::kDisciplines,
         "fifo: one operation after the other, in the order of the list; priority: the message of "
         "the smallest priority first; at_once: several messages at a time.")
        .by_default("fifo"),
    integer("credit_bytes",
            "A priority stream sends its next message while fewer bytes than this are in flight. "
            "The default is no limit.",
            io::between(1, io::kMostExact), "4000000"),
    integer("concurrency", "Messages at a time on a stream at_once.", io::between(1, 1 << 20))
        .by_default(2),
    word("channel_shares", buckets::kChannelShares,
         "What messages at a time have of the channel, on a stream at_once: all the same (equal), "
         "slowed by contention, or in proportion to their data_s (by_size).")
        .by_default("equal"),
    number("contention",
           "How much one more message at a time slows the data of each, on a stream at_once.",
           io::between(0, kMostTime))
        .by_default(0.5)};

// The elements of a wait: an id, a distance, the word "all" to wait for all ranks, and the number
// of first iterations in which it holds.
inline constexpr std::array kProgramWaitPart{
    any("waits", "Id of the operation, iterations back, \"all\" to wait for every rank, and the "
                 "number of first iterations in which the wait holds.")};
inline constexpr std::array kProgramWait{
    list("waits", kProgramWaitPart, "One wait.", R"(["X1", 1])").sizes(2, 4)};
inline constexpr std::array kProgramApplied{list("applies", kProgramWaitPart,
                                                 "An exchange and how many iterations ago it ran.",
                                                 R"(["X1", 0])")
                                                .sizes(2, 2)};

inline constexpr std::array kProgramOperationKeys{
    text("id", "Name of the operation, unique in the file.", R"("F1")").required(),
    text("stream", "Name of the stream that it runs on.", R"("compute")").required(),
    word("type", programs::kOperationTypes,
         "compute: work of the device; delay: time during which nothing computes; exchange: a "
         "message between ranks.")
        .required(),
    word("kind", programs::kKinds,
         "What the operation is for; shares and overlap are by kind. The default is the collective "
         "of an exchange, else other."),
    number("seconds", "Duration of compute and delay, s; required for them.",
           io::between(0, kMostTime), "0.002"),
    number("startup_s", "Start-up of an exchange, s; with data_s instead of a collective.",
           io::between(0, kMostTime), "0.0001"),
    number("data_s", "Time of an exchange after its start-up, s.", io::between(0, kMostTime),
           "0.004"),
    word("collective", kProgramCollectives,
         "The exchange is this collective of so many bytes on the cluster of the file, which gives "
         "its time."),
    word("algorithm", collectives::algorithm_names,
         "Algorithm of the collective. The default is that of the library of a preset or of a "
         "measured curve, else ring, and mst for reduce and broadcast."),
    integer("bytes",
            "Bytes of the whole buffer of the collective (alltoall: of the send buffer of one "
            "rank), or of a message on a priority stream, which take part of the credit.",
            io::between(0, io::kMostExact), "1000000")
        .by_default(0),
    text("group",
         "Ranks that exchange with each other: all, a group of the file, or of its cluster node "
         "(the ranks of one node) and replica (the ranks with the same place in their nodes).")
        .by_default("all"),
    word("entry", programs::kEntries,
         "together: an exchange starts with the last of its ranks; each: rank by rank.")
        .by_default("together"),
    integer("priority", "Place among the messages of a priority stream; the smallest goes first.",
            io::between(-io::kMostExact, io::kMostExact))
        .by_default(0),
    integer("step", "Inner step that the operation belongs to, below steps.",
            io::between(0, 0x1p30))
        .by_default(0),
    list("applies", kProgramApplied, "Exchanges whose gradients an update uses."),
    list("waits", kProgramWait,
         "Operations that must have ended: [id, iterations back] of the same rank, or with \"all\" "
         "of every rank; a number at the end limits the wait to so many first iterations.",
         R"([["B1", 0]])"),
    integer("unit", "Bucket or sharding unit, from 0.", io::between(0, 0x1p30), "0"),
    integer("first_layer", "First layer that the operation works on, from 0.",
            io::between(0, 0x1p30), "0"),
    integer("last_layer", "Last layer that the operation works on. The default is first_layer.",
            io::between(0, 0x1p30), "0"),
    integer("micro_batch", "Micro-batch, from 0.", io::between(0, 0x1p30), "0")};

inline constexpr std::array kProgramStream{
    object("streams", kProgramStreamKeys, "A stream; every rank has its own copy.")};
inline constexpr std::array kProgramOperation{
    object("operations", kProgramOperationKeys, "An operation of one iteration.")};

inline constexpr std::array kProgramRank{
    integer("groups", "A rank.", io::between(0, kMaxRanks), "0")};
inline constexpr std::array kProgramPart{
    list("groups", kProgramRank, "Ranks that exchange with each other.", "[0, 1]")};
inline constexpr std::array kProgramGroup{
    list("groups", kProgramPart, "Parts of the ranks; every rank is in one.", "[[0, 1], [2, 3]]")};

inline constexpr std::array kOverlapOfKind{
    number("compute", "Slowdown of operations of this kind.", io::between(1, kMostTime), "1.5")};
inline constexpr std::array kOverlapComputeForms{
    number("compute", "Slowdown of all computing.", io::between(1, kMostTime), "1.5"),
    map("compute", kOverlapOfKind,
        "Slowdown by kind of operation; \"*\" stands for all others, 1 without it.",
        R"({"*": 1.1, "backward": 1.5})")};
inline constexpr std::array kProgramOverlapKeys{
    either("compute", kOverlapComputeForms,
           "How many times slower computing is while an exchange of the same rank is under way. "
           "The default is 1.",
           "1.5"),
    number("exchange",
           "How many times slower the data of an exchange are while one of its ranks computes.",
           io::between(1, kMostTime))
        .by_default(1)};

inline constexpr std::array kProgramKeys{
    list("streams", kProgramStream, "Streams of every rank.",
         R"([{"name": "compute"}, {"name": "reduce"}])")
        .sizes(1)
        .required(),
    map("groups", kProgramGroup, "Partitions of the ranks, by name.",
        R"({"node": [[0, 1], [2, 3]]})"),
    list("operations", kProgramOperation,
         "Operations of one iteration, in the order in which they are issued.",
         R"([{"id": "S", "stream": "compute", "type": "compute", "seconds": 0.1, "waits": []}])")
        .sizes(1)
        .required(),
    text("marker", "Id of the operation whose ends count iterations.", R"("S")").required(),
    integer("tail", "Operations at the end of the list that run once, after the last iteration.",
            io::between(0, static_cast<double>(programs::kMaxOperations)))
        .by_default(0),
    integer("steps", "Optimizer steps of one iteration of the program.", io::between(1, 0x1p30))
        .by_default(1),
    object("overlap", kProgramOverlapKeys,
           "How computing and communication slow each other. The default is that they do not.",
           R"({"compute": 1.5})"),
    integer("ranks", "Ranks that run the program. The default is those of the cluster, else 1.",
            io::between(1, kMaxRanks), "4"),
    object("cluster", kCluster,
           "Machines and network, as in a scenario; collectives take their time from them."),
    integer("iterations", "Iterations of a run.", io::between(2, kMostProgramIterations))
        .by_default(100),
    integer("discard_iterations",
            "Iterations that the mean period of a simulated run leaves out, below iterations. The "
            "default is half of them.",
            io::between(1, kMostProgramIterations), "50"),
    kAllowUnusual};

inline constexpr io::Key kProgram =
    object("program", kProgramKeys,
           "A training algorithm as operations on streams: what every rank does in one iteration.");

// Examples are part of the schema and are checked against it: a step with one exchange per layer,
// and one whose exchange takes its time from the cluster.
inline constexpr std::array<std::string_view, 2> kProgramExamples{
    R"({"schema_version": 1, "kind": "program", "name": "two-layers", "streams": [{"name": "compute"}, {"name": "reduce"}], "operations": [{"id": "F1", "stream": "compute", "type": "compute", "kind": "forward", "seconds": 0.001, "waits": [["X1", 1]], "first_layer": 0}, {"id": "F2", "stream": "compute", "type": "compute", "kind": "forward", "seconds": 0.001, "waits": [["X2", 1]], "first_layer": 1}, {"id": "B2", "stream": "compute", "type": "compute", "kind": "backward", "seconds": 0.002, "first_layer": 1}, {"id": "B1", "stream": "compute", "type": "compute", "kind": "backward", "seconds": 0.002, "first_layer": 0}, {"id": "X2", "stream": "reduce", "type": "exchange", "kind": "allreduce", "startup_s": 0.0001, "data_s": 0.002, "waits": [["B2", 0]], "unit": 0}, {"id": "X1", "stream": "reduce", "type": "exchange", "kind": "allreduce", "startup_s": 0.0001, "data_s": 0.001, "waits": [["B1", 0]], "unit": 1}], "marker": "B1"})",
    R"({"kind": "program", "streams": [{"name": "compute"}, {"name": "reduce"}], "operations": [{"id": "S", "stream": "compute", "type": "compute", "kind": "step", "seconds": 0.05, "waits": [["X", 2]]}, {"id": "X", "stream": "reduce", "type": "exchange", "collective": "allreduce", "bytes": 100000000, "waits": [["S", 0]]}], "marker": "S", "overlap": {"compute": 1.2}, "cluster": {"nodes": 8, "network": "10g-tcp"}, "iterations": 200})"};
inline constexpr io::FileKind kProgramFile{"program", &kProgram, kProgramExamples};

} // namespace stepsim::study::keys
