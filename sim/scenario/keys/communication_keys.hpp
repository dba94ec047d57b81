#pragma once
// The keys of /communication of a scenario: collective, schedule and compression.

#include "collectives/algorithms.hpp"
#include "collectives/schedule/two_level.hpp"
#include "programs/builders/step_parts.hpp"
#include "scenario/keys/compression_keys.hpp"
#include "scenario/keys/library_model_keys.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// The number of start-ups of a ring all-reduce: its number of steps, or two more. The literature
// uses both.
inline constexpr std::array<std::string_view, 2> kRingStartups{"2(P-1)", "2P"};
inline constexpr std::array<std::string_view, 2> kExchanges{"allreduce", "reduce_broadcast"};
// A value of the key `collective` that does not name an algorithm: the times come from the measured
// all-reduce curve of a calibration.
inline constexpr std::string_view kCalibrated = "calibrated";

// The words of the key `candidates`: all all-reduce algorithms.
[[nodiscard]] std::vector<std::string_view> candidates();
// The words of the key `collective`: all candidates, then auto, library and calibrated.
[[nodiscard]] std::vector<std::string_view> collectives();
// The words of intra_algorithm and inter_algorithm: the algorithms that a hierarchical algorithm
// may use inside a node and between nodes.
[[nodiscard]] std::vector<std::string_view> algorithms_in_node();
[[nodiscard]] std::vector<std::string_view> algorithms_between_nodes();

// The words come from a function, because the table of algorithms is not known at compile time
// here.
inline constexpr std::array kCandidate{word("candidates", candidates, "An all-reduce algorithm.")};

inline constexpr std::array<std::string_view, 1> kBestBlock{"optimal"};
// "optimal" depends on the bytes of each message, so that it cannot be written as a number.
inline constexpr std::array kBlockForms{
    integer("block_bytes", "Bytes of a block.", io::at_least(1), "65536"),
    word("block_bytes", kBestBlock, "The block with the shortest time.")};

// What frameworks copy is theirs to say: a calibration only says how long it takes.
inline constexpr std::array<std::string_view, 1> kMeasuredSpeed{kCalibrated};
inline constexpr std::array kCopyForms{
    number("copy_bandwidth_Bps", "Bytes per second.", io::above(0), "1e11"),
    word("copy_bandwidth_Bps", kMeasuredSpeed,
         "The speed that the calibration of the network has.")};

inline constexpr std::array kChunkForms{
    integer("pipeline_chunks", "Number of chunks.", io::between(1, collectives::kMostChunks), "4"),
    word("pipeline_chunks", kBestBlock, "The number with the shortest time.")};

// The keys of plan_cost, the cost of a message that the planner of buckets uses instead of the
// simulated one.
inline constexpr std::array kPlanCost{
    number("startup_s", "Time of an empty message, s.", io::at_least(0), "0.000908").required(),
    number("per_byte_s", "Time per byte, s.", io::at_least(0), "7.4e-10").required()};

// The keys of /communication except those of schedules, which scenario_keys.hpp adds.
inline constexpr std::array kCollectiveKeys{
    word("collective", collectives,
         "All-reduce algorithm; auto takes the fastest, library what a collective library does, "
         "calibrated a measured curve. The default is library with a preset or a calibration of "
         "the library, else auto with several GPUs per node and ring with one.",
         R"("ring")")
        .because("the usual all-reduce"),
    kLibraryKey,
    boolean("host_reduction", "Whether sums are computed on the host's processor, as by Horovod "
                              "without NCCL.")
        .by_default(false, "GPUs add"),
    list("candidates", kCandidate,
         "Algorithms that auto chooses from. The default is all that fit.", R"(["ring", "lp"])")
        .sizes(1),
    either("block_bytes", kBlockForms, "Block of the pipelined algorithms, bytes.")
        .by_default("optimal"),
    word("reduction_mode", collectives::kReductionModes,
         "Whether ranks add while they receive, or after.")
        .by_default("overlapped", "links are free while sums are made"),
    word("chunking", collectives::kChunkings,
         "Whether a chunk has whole elements, or exactly its part of the bytes. The default is "
         "real, or integer in a simulated network.",
         R"("real")")
        .because("as the network model has it"),
    integer("element_bytes", "Bytes of an element, the smallest part of a chunk.", io::at_least(1),
            "4")
        .by_default(1, "parts are cut at any byte"),
    word("cost_form", collectives::kCostForms,
         "Times of the schedule itself (exact), as a paper prints them, or with free pipelining.")
        .by_default("exact", "the schedule as it runs"),
    word("ring_startup", kRingStartups, "Start-ups of the ring that are counted.")
        .by_default("2(P-1)", "one start-up per step of the ring"),
    boolean("lp_last_hop", "The last hop of the linear pipeline is counted.").by_default(true),
    boolean("exchange_sizes", "Ranks exchange sizes before sparse data.").by_default(false),
    word("intra_algorithm", algorithms_in_node, "Algorithm inside a node.").by_default("mst"),
    word("inter_algorithm", algorithms_between_nodes, "Algorithm between nodes.")
        .by_default("ring"),
    either("pipeline_chunks", kChunkForms,
           "Chunks of a message that overlap on the levels of two_level and collnet.")
        .by_default(1, "a message is sent whole"),
    word("exchange", kExchanges, "One all-reduce, or a reduce and a broadcast.")
        .by_default("allreduce", "all-reduce, not reduce and broadcast"),
    boolean("overlap_backward", "Buckets are sent while the backward pass still runs.")
        .by_default(true, "messages are sent during backward"),
    word("next_forward", programs::kNextForwards,
         "Whether a layer of the next forward pass waits for its own gradients, or for all. The "
         "default is per_layer; barrier with synchronous servers on alpha_beta whose messages go "
         "one by one, or that send one message.",
         R"("barrier")")
        .because("a layer starts when its own gradients are there"),
    either("copy_bandwidth_Bps", kCopyForms,
           "Speed of copies into and out of merged messages, bytes/s. The default is no copies.",
           "1e11")
        .nullable(),
    object("plan_cost", kPlanCost,
           "Time of a message that the planner of buckets counts with. The default is the time "
           "that messages take.",
           R"({"startup_s": 0.000908, "per_byte_s": 7.4e-10})")
        .nullable(),
    either("compression", kCompressionForms,
           "Compression of gradients: sparsification, quantization or low rank.",
           kCompressionObject.example_json)
        .by_default("none")};

} // namespace stepsim::study::keys
