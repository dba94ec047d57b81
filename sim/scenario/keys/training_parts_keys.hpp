#pragma once
// The keys of the parts of /training (training_parts.hpp): codecs of values, sharding, rounds of
// several steps, and overlap.
#include "document/fields/key.hpp"
#include "document/fields/members.hpp"
#include "scenario/files/keys/overlap_keys.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// The keys of a codec for outer gradients or gathered parameters, a word or an object (TRN 8.1).

inline constexpr std::array kValueCodec{
    io::rows::word("method", kCodecMethods,
                   "Codec: values of 2 bytes (truncate16), 1 byte (quantize8, int8) or half a byte "
                   "(fp4), or of any ratio (custom_codec).")
        .by_default("none"),
    io::rows::number("ratio",
                     "Bytes of values over bytes on the wire. The default is that of the method; "
                     "required with custom_codec.",
                     io::at_least(1), "4"),
    io::rows::number("encode_Bps",
                     "Speed of encoding, uncompressed bytes/s; 0 means that it takes no time.",
                     io::at_least(0), "1e11")
        .by_default(0),
    io::rows::number("decode_Bps",
                     "Speed of decoding, uncompressed bytes/s; 0 means that it takes no time.",
                     io::at_least(0), "1e11")
        .by_default(0)};

// The two forms of the key `name`: the word of a codec, or an object with the keys above.
[[nodiscard]] constexpr std::array<io::Key, 2> codec_forms(std::string_view name) {
  return {io::rows::word(name, kCodecMethods, "A codec with its defaults."),
          io::rows::object(name, kValueCodec, "A codec and what differs from its defaults.")
              .example(R"({"method": "int8", "encode_Bps": 1e11})")};
}

// The keys of /training/sharding of a scenario (TRN 8.1).

// Limit of ahead_forward and ahead_backward in units, and of reduces_in_flight.
inline constexpr double kMostAhead = 1000;

inline constexpr std::array kCut{
    integer("cuts", "Number of the last layer of a unit, from 1.", io::at_least(1))};

inline constexpr std::array kWrapping{
    word("policy", layers::kWrappingPolicies,
         "Which layers are a unit: each one, so many blocks of the model by the numbers in the "
         "names of layers, as many as have so many parameters, all, a fixed number, a list, or "
         "those with the shortest iteration.",
         R"("block")"),
    integer("parameters", "A unit closes when it has at least so many parameters.", io::at_least(1),
            "20000000")
        .by_default(layers::kWrappingParameters),
    integer("layers", "Layers of a unit.", io::at_least(1), "4").by_default(1),
    integer("blocks", "Blocks of a unit; layers between two blocks are a unit of their own.",
            io::at_least(1), "2")
        .by_default(1),
    list("cuts", kCut, "Numbers of the layers after which a unit ends, ascending.", "[2, 4]")};

inline constexpr auto kParameterCompressionForms = codec_forms("parameter_compression");

// The defaults of most keys follow from the preset, which names a framework.
inline constexpr std::array kSharding{
    word("strategy", kShardingStrategies,
         "What is sharded: nothing, the state of the optimizer (zero1), gradients too (zero2), "
         "parameters too (full_shard; shard_grad_op keeps them from forward to backward), or the "
         "same among shard_ranks ranks, with replicas of that (hybrid_shard).")
        .by_default("none"),
    word("preset", kShardingPresets, "Framework whose defaults the other keys have.")
        .by_default("fsdp2", "PyTorch FSDP2"),
    object("wrapping", kWrapping,
           "Which layers are gathered together. The default is that of the preset: blocks, or "
           "sizes of 1e8 parameters with fsdp1.",
           R"({"policy": "block"})"),
    integer("ahead_forward",
            "How many units forward may be behind their gathers; null means no limit. The default "
            "is that of the preset: 2, or 1 with fsdp1.",
            io::between(0, kMostAhead), "1")
        .nullable(),
    integer("ahead_backward", "The same in backward. The default is 1.", io::between(0, kMostAhead),
            "2")
        .nullable(),
    integer("reduces_in_flight",
            "How many reduce-scatters may be unfinished when backward goes on; null means no "
            "limit. The default is that of the preset: 1, or no limit with fsdp1.",
            io::between(0, kMostAhead), "2")
        .nullable(),
    word("backward_prefetch", kBackwardPrefetches,
         "When the next unit is gathered in backward: before the backward of the unit behind it, "
         "after that, or only when its own turn comes.")
        .by_default("pre"),
    boolean("forward_prefetch", "One more unit is gathered ahead in forward.", "true")
        .by_default(false),
    boolean("limit_all_gathers", "FSDP1 limits the gathers ahead of forward.", "false")
        .by_default(true),
    boolean("reshard_after_forward",
            "Parameters are freed after forward and gathered again for backward.")
        .by_default(true),
    boolean("reshard_after_backward",
            "Parameters are freed after the backward of every micro-batch. The default is false "
            "where they stay after forward and only the last micro-batch is exchanged.",
            "false"),
    boolean("keep_last",
            "The last unit stays gathered from forward to backward. The default is "
            "that of the preset: true with torchtitan.",
            "true"),
    integer("communicators", "1: gathers and reduce-scatters wait for each other; 2: they overlap.",
            io::between(1, 2))
        .by_default(1, "one communicator runs one collective at a time"),
    integer("shard_ranks",
            "Neighbouring ranks that share one copy with hybrid_shard: they divide all ranks into "
            "several groups, and are a multiple or a divisor of the GPUs of a node. The default is "
            "the GPUs of a node, or of an NVLink domain.",
            io::at_least(2), "16"),
    word("gather", kParameterGathers,
         "Whether the next forward waits for all gathered parameters or each layer for its own.")
        .by_default("barrier", "parameters are gathered inside the optimizer step"),
    word("gather_by", kGatherBys,
         "How ranks get updated parameters with zero1: all-gathers of buckets, whose gradients are "
         "reduce-scattered, or broadcasts behind the update from the owner of each whole tensor, "
         "after all-reduces of gradients, as PyTorch's ZeroRedundancyOptimizer does: one per "
         "tensor, or one per rank (parameters_as_bucket_view).")
        .by_default("all_gather"),
    number("parameter_bytes", "Bytes of a parameter as it is gathered and computed with.",
           io::above(0))
        .by_default(2, "parameters are computed with in 2 bytes"),
    either("parameter_compression", kParameterCompressionForms,
           "Codec of gathered parameters: a rank encodes its shards after the update, and decodes "
           "what a gather brings before it computes with it.",
           R"("int8")"),
    number("reduce_bytes", "Bytes of a gradient's value as it is reduced.", io::above(0))
        .by_default(4, "gradients are reduced in 4 bytes"),
    number("stored_bytes", "Bytes of a parameter as it is stored.", io::above(0)).by_default(4),
    number("optimizer_bytes",
           "Bytes of the optimizer's state for a parameter. The default is that "
           "of /training/optimizer.",
           io::at_least(0), "8"),
    integer("max_unit_parameters",
            "Most parameters of a unit of several layers where units are planned (wrapping "
            "optimal, plan-training). gpu_memory_bytes limits them as well.",
            io::at_least(1), "500000000"),
    integer("label_limit",
            "How many partial divisions the planner of units keeps; with more, the units are good "
            "but not certified to be the best.",
            io::between(1, 1e7))
        .by_default(200000)};

inline constexpr std::array kShardingForms{
    word("sharding", kShardingStrategies, "A strategy with its defaults."),
    object("sharding", kSharding, "A strategy and what differs from its defaults.",
           R"({"strategy": "full_shard", "preset": "torchtitan"})")};

// The keys of /training for training that synchronises every H steps (TRN 8.1).

inline constexpr std::array kOuterNetworkRows{
    of<&OuterNetwork::latency_s>(
        number("Latency of a message, s. The default is that of the cluster's network.",
               io::at_least(0), "0.02")),
    of<&OuterNetwork::bandwidth_Bps>(
        number("Bandwidth of each rank or island, bytes/s per direction. The default is that of "
               "the cluster's network.",
               io::above(0), "1.25e8")),
    of<&OuterNetwork::transport>(
        word(links::kCarriers,
             "Who moves the bytes of bandwidth_Bps, which says what typical conditions lose.")
            .example(R"("tcp_cloud")")),
    of<&OuterNetwork::ranks>(
        integer("Participants of an outer exchange. The default is all ranks of the cluster.",
                io::at_least(1), "2"))};
inline constexpr auto kOuterNetwork = io::keys_of(kOuterNetworkRows);

inline constexpr auto kOuterCompressionForms = codec_forms("outer_compression");

inline constexpr std::array kLocalTrainingRows{
    of<&LocalTraining::local_steps>(
        integer("Steps of a round, after which parameters are synchronised.", io::at_least(1),
                "100")
            .by_default(1)),
    of<&LocalTraining::fragments>(
        integer("Parts of the model that are synchronised one after the other during a round.",
                io::at_least(1), "4")
            .by_default(1, "the whole model is synchronised at once")),
    of<&LocalTraining::overlap_steps>(
        integer("Steps between sending a fragment and merging it, during which training goes on.",
                io::at_least(0), "1")
            .by_default(0, "training waits for every outer exchange")),
    of<&LocalTraining::fragment_pattern>(
        word(kFragmentPatterns,
             "Layers of a fragment: every layer whose number has the same rest, or neighbours.")
            .by_default("strided")),
    of<&LocalTraining::outer_gate>(word(programs::kOuterGates,
                                        "Whether the whole step waits for an outer exchange, or "
                                        "every layer has a message of its "
                                        "own that only its forward waits for.")
                                       .by_default("step")),
    of<&LocalTraining::inner>(
        word(kInnerTrainings, "A step of a round: one operation of a rank, with whatever happens "
                              "inside it, or synchronous training inside an island, which is a "
                              "node with exchanges over intra_network.")
            .by_default("step",
                        "the times of the workload hold everything that happens in a step")),
    of<&LocalTraining::outer_update>(
        number("Time of the outer update of all parameters, s.", io::at_least(0), "0.05")
            .by_default(0)),
    of<&LocalTraining::outer_value_bytes>(
        number("Bytes of a parameter's value in an outer exchange.", io::above(0), "2")
            .by_default(4, "outer gradients have 4 bytes")),
    by_hand<LocalTraining>(either("outer_compression", kOuterCompressionForms,
                                  "Codec of outer gradients.", R"("int8")")),
    by_hand<LocalTraining>(
        object("outer_network", kOuterNetwork,
               "Link of outer exchanges. The default is the network of the cluster.",
               R"({"latency_s": 0.02, "bandwidth_Bps": 1.25e8})")
            .nullable())};
inline constexpr auto kLocalTraining = io::keys_of(kLocalTrainingRows);

// The object /training/overlap of a scenario (TRN 3.3, 8.1).

inline constexpr std::array kOverlapSettings{
    io::keys::kOverlapCompute, io::keys::kOverlapExchange,
    text("file", "File of kind overlap, which fills what is not given.", R"("v100.overlap.json")"),
    word("table", overlap_names,
         "DEVICE/LIBRARY of a slowdown that comes with the program; it fills what is not given.",
         R"("V100-PCIe/NCCL-2.4+TCP-10GbE")")};

inline constexpr io::Key kOverlapKey = object("overlap", kOverlapSettings,
                                              "Slowdown of computing and exchanges that overlap. "
                                              "The default is none: overlap is assumed to be free.",
                                              R"({"compute": 2.26})")
                                           .nullable();

} // namespace stepsim::study::keys
