#pragma once
// The keys of /training for training that synchronises every H steps (TRN 8.1).

#include "document/fields/members.hpp"
#include "scenario/keys/value_codec_keys.hpp"
#include "scenario/training_parts.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kOuterNetworkRows{
    of<&OuterNetwork::latency_s>(
        number("Latency of a message, s. The default is that of the cluster's network.",
               io::at_least(0))
            .example("0.02")),
    of<&OuterNetwork::bandwidth_Bps>(
        number(
            "Bandwidth of each rank or island, bytes/s per direction. The default is that of the "
            "cluster's network.",
            io::above(0))
            .example("1.25e8")),
    of<&OuterNetwork::transport>(
        word(links::kCarriers,
             "Who moves the bytes of bandwidth_Bps, which says what typical conditions lose.")
            .example(R"("tcp_cloud")")),
    of<&OuterNetwork::ranks>(
        integer("Participants of an outer exchange. The default is all ranks of the cluster.",
                io::at_least(1))
            .example("2"))};
inline constexpr auto kOuterNetwork = io::keys_of(kOuterNetworkRows);

inline constexpr auto kOuterCompressionForms = codec_forms("outer_compression");

inline constexpr std::array kLocalTrainingRows{
    of<&LocalTraining::local_steps>(
        integer("Steps of a round, after which parameters are synchronised.", io::at_least(1))
            .by_default(1)
            .example("100")),
    of<&LocalTraining::fragments>(
        integer("Parts of the model that are synchronised one after the other during a round.",
                io::at_least(1))
            .by_default(1)
            .example("4")
            .because("the whole model is synchronised at once")),
    of<&LocalTraining::overlap_steps>(
        integer("Steps between sending a fragment and merging it, during which training goes on.",
                io::at_least(0))
            .by_default(0)
            .example("1")
            .because("training waits for every outer exchange")),
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
        word(kInnerTrainings,
             "A step of a round: one operation of a rank, with whatever happens inside it, or "
             "synchronous training inside an island, which is a node with exchanges over "
             "intra_network.")
            .by_default("step")
            .because("the times of the workload hold everything that happens in a step")),
    of<&LocalTraining::outer_update>(
        number("Time of the outer update of all parameters, s.", io::at_least(0))
            .by_default(0)
            .example("0.05")),
    of<&LocalTraining::outer_value_bytes>(
        number("Bytes of a parameter's value in an outer exchange.", io::above(0))
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
