#pragma once
// The keys of /training for training that synchronises every H steps (TRN 8.1).

#include "document/fields/bound.hpp"
#include "scenario/keys/value_codec_keys.hpp"
#include "scenario/local_training.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kOuterNetworkRows{
    bound<&OuterNetwork::latency_s>(
        number("latency_s",
               "Latency of a message, s. The default is that of the cluster's network.",
               io::at_least(0))
            .example("0.02")),
    bound<&OuterNetwork::bandwidth_Bps>(
        number(
            "bandwidth_Bps",
            "Bandwidth of each rank or island, bytes/s per direction. The default is that of the "
            "cluster's network.",
            io::above(0))
            .example("1.25e8")),
    bound<&OuterNetwork::transport>(
        word("transport", links::kCarriers,
             "Who moves the bytes of bandwidth_Bps, which says what typical conditions lose.")
            .example(R"("tcp_cloud")")),
    bound<&OuterNetwork::ranks>(
        integer("ranks",
                "Participants of an outer exchange. The default is all ranks of the cluster.",
                io::at_least(1))
            .example("2"))};
inline constexpr auto kOuterNetwork = io::keys_of(kOuterNetworkRows);

inline constexpr auto kOuterCompressionForms = codec_forms("outer_compression");

inline constexpr std::array kLocalTrainingRows{
    bound<&LocalTraining::local_steps>(
        integer("local_steps", "Steps of a round, after which parameters are synchronised.",
                io::at_least(1))
            .by_default(1)
            .example("100")),
    bound<&LocalTraining::fragments>(
        integer("fragments",
                "Parts of the model that are synchronised one after the other during a round.",
                io::at_least(1))
            .by_default(1)
            .example("4")
            .because("the whole model is synchronised at once")),
    bound<&LocalTraining::overlap_steps>(
        integer("overlap_steps",
                "Steps between sending a fragment and merging it, during which training goes on.",
                io::at_least(0))
            .by_default(0)
            .example("1")
            .because("training waits for every outer exchange")),
    bound<&LocalTraining::fragment_pattern>(
        word("fragment_pattern", kFragmentPatterns,
             "Layers of a fragment: every layer whose number has the same rest, or neighbours.")
            .by_default("strided")),
    bound<&LocalTraining::outer_gate>(word("outer_gate", programs::kOuterGates,
                                           "Whether the whole step waits for an outer exchange, or "
                                           "every layer has a message of its "
                                           "own that only its forward waits for.")
                                          .by_default("step")),
    bound<&LocalTraining::inner>(
        word("inner", kInnerTrainings,
             "A step of a round: one operation of a rank, with whatever happens inside it, or "
             "synchronous training inside an island, which is a node with exchanges over "
             "intra_network.")
            .by_default("step")
            .because("the times of the workload hold everything that happens in a step")),
    bound<&LocalTraining::outer_update>(
        number("outer_update_s", "Time of the outer update of all parameters, s.", io::at_least(0))
            .by_default(0)
            .example("0.05")),
    bound<&LocalTraining::outer_value_bytes>(
        number("outer_value_bytes", "Bytes of a parameter's value in an outer exchange.",
               io::above(0))
            .by_default(4)
            .example("2")
            .because("outer gradients have 4 bytes")),
    by_hand<LocalTraining>(
        either("outer_compression", kOuterCompressionForms, "Codec of outer gradients.")
            .example(R"("int8")")),
    by_hand<LocalTraining>(
        object("outer_network", kOuterNetwork,
               "Link of outer exchanges. The default is the network of the cluster.")
            .nullable()
            .example(R"({"latency_s": 0.02, "bandwidth_Bps": 1.25e8})"))};
inline constexpr auto kLocalTraining = io::keys_of(kLocalTrainingRows);

} // namespace stepsim::study::keys
