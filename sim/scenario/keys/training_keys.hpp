#pragma once
// The keys of /training of a scenario (PIP 2).

#include "scenario/keys/communication_keys.hpp"
#include "scenario/keys/training_parts_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// With this word the run searches for the width; the result has the width it found.
inline constexpr std::array<std::string_view, 1> kOptimal{"optimal"};
// Pairs of words for a boolean member. The first word of each pair is the default and means false.
inline constexpr std::array<std::string_view, 2> kServing{"pipelined", "serial"};
inline constexpr std::array<std::string_view, 2> kServerSplits{"even", "whole"};

inline constexpr std::array kHostCopyForms{
    number("host_copy_Bps", "Bytes per second.", io::at_least(0), "1.2e10"),
    word("host_copy_Bps", kMeasuredSpeed,
         "The speed that the calibration of the network has for links of class host.")};

// A width, or the word to search for one. A width of 1 is synchronous training; every further one
// makes gradients staler by one iteration.
inline constexpr std::array kPipelineWidthForms{
    integer("pipeline_width", "Width K.", io::between(1, 1 << 20), "2"),
    word("pipeline_width", kOptimal, "The smallest width that is as fast as max_width.")};

inline constexpr io::Key kMicroBatches =
    integer("micro_batches",
            "Forward and backward passes whose gradients are summed before the update: gradient "
            "accumulation. The times "
            "of the workload are those of one.",
            io::at_least(1), "4")
        .by_default(1, "every batch is followed by an update");

// How the number of epochs grows with the fraction of lost gradient bytes: it is epochs_lossless up
// to x1, rises linearly to (1 + beta) epochs_lossless at x2, and training does not converge above
// x2. The numbers depend on the trained model and must be measured; only x1 has a default.
inline constexpr std::array kConvergenceRows{
    of<&Convergence::epochs_lossless>(
        number("Epochs to convergence without loss.", io::above(0), "90").required()),
    of<&Convergence::iterations_per_epoch>(
        integer("Iterations of an epoch.", io::at_least(1), "5005").required()),
    bound<&Convergence::harmless>(
        number("x1", "Largest loss fraction without effect.", io::at_least(0)).by_default(0.01)),
    bound<&Convergence::most>(
        number("x2", "Largest loss fraction that converges; above x1.", io::at_least(0), "0.3")
            .required()),
    of<&Convergence::beta>(
        number("Further epochs at x2, divided by epochs_lossless.", io::at_least(0), "1")
            .required())};
inline constexpr auto kConvergence = io::keys_of(kConvergenceRows);

// The keys of all training algorithms; rules.cpp and the rows of rules.hpp say which
// algorithms use each key.
inline constexpr std::array kTrainingRows{
    of<&Training::algorithm>(
        word(kTrainingAlgorithms,
             "Training algorithm: synchronous, pipelined (Pipe-SGD), with a delay of one step and "
             "local updates (od_sgd), with parameter servers, or in rounds of several steps whose "
             "parameters are averaged (local_sgd), whose changes are applied by an outer "
             "optimizer (diloco), or which are pulled towards the average that servers keep "
             "(easgd, synchronous elastic averaging).")
            .by_default("sync_sgd", "synchronous training")),
    of<&Training::iterations>(
        integer("Iterations to simulate; with local_sgd, diloco and easgd rounds of local_steps "
                "steps.",
                io::between(1, 1e6))
            .by_default(10)),
    of<&Training::discard_iterations>(integer("First iterations that the means leave out. The "
                                              "default is 1 where periods differ, else 0.",
                                              io::at_least(0), "1")),
    by_hand<Training>(number("update_s",
                             "Time of the weight update, s. The default is the trace's "
                             "time of update and framework, times the ranks that shared it.",
                             io::at_least(0), "0.0007")),
    of<&Training::loss>(number("Time of the loss between forward and backward, s; it counts as "
                               "forward of the last layer.",
                               io::at_least(0), "0.001")
                            .by_default(0, "the workload has it or it takes no time")),
    of<&Training::input>(number("Time to read a batch, s.", io::at_least(0), "0.01")
                             .by_default(0, "input is always there")),
    of<&Training::input_pipelined>(boolean("The next batch is read during the step.")
                                       .by_default(true, "input is read during the step")),
    of<&Training::exchange>(
        number("Time of every exchange, s; it replaces the network.", io::at_least(0), "0.06")),
    of<&Training::sync>(number("Time of synchronisation that is added to every exchange, s.",
                               io::at_least(0), "0.0001")
                            .by_default(0, "an exchange starts at once")),
    of<&Training::wait>(
        number("Time in each step that workers wait for reasons that no other key gives, s.",
               io::at_least(0), "0.002")
            .by_default(0, "workers wait for exchanges alone")),
    io::Bound<Training>{either("host_copy_Bps", kHostCopyForms,
                               "Speed of copies through host memory before and after every "
                               "exchange, bytes/s; 0 means that there are none. Gradients are "
                               "copied whole; of truncate16 and quantize8 what is sent.")
                            .by_default(0, "nothing is copied through host memory"),
                        nullptr,
                        [](const io::Key& row, const Training& training) {
                          return io::binding::member_json(row, training.host_copy_Bps);
                        }},
    by_hand<Training>(either("pipeline_width", kPipelineWidthForms,
                             "Iteration t waits for the exchange of iteration t - K.")
                          .by_default(2, "two iterations at once")),
    of<&Training::max_width>(
        integer("Largest width that optimal tries.", io::between(1, 1 << 20)).by_default(16)),
    of<&Training::width_tolerance>(
        number("How much slower than max_width the optimal width may be, as a ratio.",
               io::at_least(0))
            .by_default(0.01)),
    by_hand<Training>(integer("warmup_iterations",
                              "Synchronous iterations before the pipeline starts.", io::at_least(0),
                              "20")
                          .by_default(0)),
    of<&Training::warmup_switch>(
        word(programs::kWarmupSwitches, "How the pipeline starts after the warm-up.")
            .by_default("skip")),
    of<&Training::drain>(
        boolean("Gradients that are still under way at the end are applied.").by_default(false)),
    by_hand<Training>(
        number("compute_slowdown",
               "Factor on the time of computing while an exchange runs: short for overlap/compute.",
               io::at_least(1), "1.1")
            .by_default(1, "computing does not feel the exchange")),
    by_hand<Training>(kOverlapKey),
    by_hand<Training>(boolean("reduced_precision",
                              "Whether computing is in 16 or 8 bits, of which typical conditions "
                              "lose more. The default follows from the dtype of a gpu.",
                              "true")),
    of<&Training::mode>(word(kServerModes,
                             "Whether all workers train in step, nobody waits, or no worker runs "
                             "further ahead than staleness_bound (stale synchronous).")
                            .by_default("sync", "workers wait for each other")),
    by_hand<Training>(integer("staleness_bound",
                              "Iterations that a worker may be ahead: iteration t waits until the "
                              "server has the gradients of iteration t - 1 - staleness_bound of "
                              "all workers; null means no limit. Required with mode ssp.",
                              io::at_least(0), "3")
                          .nullable()),
    by_hand<Training>(integer("servers",
                              "Number of parameter servers. The default is 1; with placement "
                              "sharded it is the number of workers.",
                              io::between(1, 1048576), "1")
                          .because("the fewest that fit the placement")),
    by_hand<Training>(
        word(
            "placement", collectives::kPlacements,
            "Where servers run: on machines of their own, next to workers, or one on every worker.")
            .by_default("dedicated", "servers have machines of their own")),
    bound<&Training::serial_server>(
        word("server_mode", kServing,
             "Asynchronous servers receive, add and send in parallel, or one after the other.")
            .by_default("pipelined")),
    by_hand<Training>(word("server_split", kServerSplits,
                           "Every tensor is cut into one part per server, or dedicated servers "
                           "have whole tensors in turn.")
                          .by_default("even", "every tensor is split over all servers")),
    of<&Training::optimizer>(
        word(layers::kOptimizers,
             "Optimizer, whose state takes memory: adam (AdamW, too) has two moments, momentum "
             "one, adafactor a row and a column of each matrix. PyTorch's default adam updates all "
             "parameters at once, which adam_fused does without a temporary copy of them; "
             "adam_composed makes four copies, as TensorFlow's BERT does. Times do not depend on "
             "it.")
            .by_default(layers::kOptimizers[layers::Optimizer::adam],
                        "two moments for each parameter")
            .example(R"("momentum")")),
    of<&Training::gradient_lifetime>(
        word(kGradientLifetimes,
             "How long gradients stay in memory: until the update of their step, always, set to "
             "zero between steps as PyTorch kept them before 2.0 (zero_grad(set_to_none=False)), "
             "or until the update of their layer, which runs inside the backward pass. Times do "
             "not depend on it.")
            .by_default("step", "the gradients of a step are freed after its update")
            .example(R"("layer")")),
    of<&Training::context_bytes>(
        number("Bytes that a process needs on its GPU before it trains: kernels, buffers of the "
               "communication library. Measured processes need 0.5 to 2 GB; 1 GB is assumed, and 5 "
               "% of the capacity more with /workload/kernels tensorflow.",
               io::at_least(0), "1.4e9")),
    of<&Training::activation_bytes>(
        number("Bytes of activations of a micro-batch on a worker. The default follows from the "
               "layer table of a model; those of a trace are not known and not counted.",
               io::at_least(0), "2e10")),
    by_hand<Training>(kMicroBatches),
    by_hand<Training>(
        word("accumulation_exchange", kAccumulationExchanges,
             "Whether gradients are exchanged after the last micro-batch or after each. The "
             "default is last; each with sharded parameters. It cannot be set for zero1, which "
             "exchanges after the last, or zero2, which exchanges after each.",
             R"("each")")),
    by_hand<Training>(either("sharding", kShardingForms,
                             "What is sharded over the ranks: a strategy, or an object with it.",
                             R"("full_shard")")),
    by_hand<Training>(
        object("convergence", kConvergence,
               "What lost gradients cost: epochs_lossless up to a loss fraction of x1, rising to "
               "(1 + beta) times that at x2, and no convergence above.",
               R"({"epochs_lossless": 90, "iterations_per_epoch": 5005, "x2": 0.3, "beta": 1})")
            .nullable())};
inline constexpr auto kTraining = io::keys_of(kTrainingRows);

// The JSON pointer of a key of /training.
[[nodiscard]] inline std::string pointer_of(const io::Key& key) {
  return "/training/" + std::string(key.name);
}

} // namespace stepsim::study::keys
