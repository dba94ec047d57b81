#pragma once
// The exchange of gradients that a scenario describes, before anything of it is timed: which
// collective, what is compressed, what comes on top of the wire.
#include "coll/collective.hpp"
#include "coll/compress/compressed_exchange.hpp"
#include "plan/cost.hpp"
#include "plan/problem.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// More than one worker, or servers of their own.
[[nodiscard]] bool exchanges(const Scenario& scenario);
[[nodiscard]] bool is_compressed(const Scenario& scenario); // any method but `none`

// What a bucket of gradients looks like to a compressor; with shapes for powersgd only.
[[nodiscard]] coll::GradientPart gradient_part(const Scenario& scenario, const plan::Group& group);

// `bytes` of gradients without their shapes.
// The number of values is rounded up.
[[nodiscard]] coll::GradientPart part_of_bytes(double bytes, double bytes_per_value);

// All gradients as one message, without times.
// Items are the gradients in the order of the workload.
[[nodiscard]] plan::Group all_gradients(const Scenario& scenario);

// What a codec takes on a worker's compute thread for a message of `bytes` dense bytes (PIP 6); 0
// for other methods, for a rate of 0, and where nothing is exchanged.
struct CodecTimes {
  double encode_s{}, decode_s{};
};
[[nodiscard]] CodecTimes codec_times(const Scenario& scenario, double bytes);

// The given time of synchronisation per message, and the two copies through host memory of what is
// sent, per byte of the dense gradient (PIP 2, 12); 0 where nothing is exchanged.
[[nodiscard]] plan::LinearCost extra_cost(const Scenario& scenario);

// Whether the run is a job whose messages go through the simulated network one by one: packets, and
// flows where exchanges meet (parameter servers, priority, asc_wfbp, two communicators, replicas,
// several jobs) or end early (dlcp with early_stop and a bound above 0). Otherwise one exchange at
// a time is on the network, and its time depends on its size alone.
[[nodiscard]] bool simulates_messages(const Scenario& scenario);

// Whether an algorithm over nodes sends its reduce and its broadcast as chains of blocks, as
// ring_rails does.
[[nodiscard]] bool sends_chains(const Communication& communication);

// The operation of the first exchange: allreduce, or reduce with reduce_broadcast.
[[nodiscard]] coll::Op exchange_op(const Communication& communication);
// The collective of the scenario without its bytes.
[[nodiscard]] coll::Collective exchange_of(const Scenario& scenario);

// The word of the file: `calibrated` and `library` are no algorithms.
[[nodiscard]] std::string_view collective_word(const Communication& communication);

// Messages travel through a simulated topology.
[[nodiscard]] inline bool is_simulated(const Scenario& scenario) {
  return scenario.cluster.network.model != NetworkModel::alpha_beta;
}
// The times of dense exchanges are measured, given, or those of the model of a library.
[[nodiscard]] inline bool has_curve(const Scenario& scenario) {
  return scenario.cluster.network.curve.has_value();
}

} // namespace stepsim::study
