#pragma once
// The keys of /workload of a scenario, or of each job if it is a list.

#include "layers/workload.hpp"
#include "scenario/files/keys/model_keys.hpp"
#include "scenario/files/keys/trace_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// The allowed values of value_bytes: half and single precision.
inline constexpr std::array<std::int64_t, 2> kValueSizes{2, 4};

// Dimensions in the framework's order: the first one is the number of rows of the matrix that
// low-rank methods compress.
inline constexpr std::array kDimension{
    integer("shape", "Number of elements along a dimension.", io::at_least(1), "64")};

// The keys of a layer of a trace that a prediction needs. Times are those of one worker and one
// batch; a layer without gradients takes time but sends nothing.
inline constexpr std::array kLayer{
    text("name", "Name of the layer.", R"("conv1")").required(),
    number("forward_s", "Time of the forward pass, s.", io::at_least(0), "0.001").required(),
    number("backward_s", "Time of the backward pass, s.", io::at_least(0), "0.002").required(),
    integer("gradient_bytes", "Bytes of the layer's gradients; 0 if it has none.",
            io::between(0, io::kMostExact), "37632")
        .required(),
    word("dtype", io::keys::dtypes,
         "Element type of the gradients. Values of unknown type count as 4 bytes each.",
         R"("float32")"),
    list("shape", kDimension, "Shape of the weight, which low-rank compression needs.",
         "[64, 3, 7, 7]")};

inline constexpr std::array kLayers{object("layers", kLayer, "One layer, as in a trace.")};

// Layer times of a model are its arithmetic / reached speed of the device, so that both numbers
// here scale all times equally.
inline constexpr std::array kDevice{
    number("flops_Ps", "Peak speed of the device, FLOP/s.", io::above(0), "2e13").required(),
    number(
        "utilization",
        "Share of the peak speed that is reached. The default is the median of 115 measured GPUs.",
        io::above_to(0, 1), "0.5")
        .by_default(layers::kUsualUtilization,
                    "median of 115 measured GPUs; give the share of the peak that yours reaches")};

// The totals of a measured iteration: either the times of the two passes or their sum. They are
// spread over the layers of a model in proportion to the arithmetic of each layer.
inline constexpr std::array kMeasured{
    number("forward_s", "Time of all forward passes, s.", io::at_least(0), "0.03"),
    number("backward_s", "Time of all backward passes, s.", io::at_least(0), "0.06"),
    number("compute_s", "Time of both together, s, which backward_factor splits.", io::above(0),
           "0.09"),
    integer("gpus", "GPUs of the run in which the times were measured.", io::at_least(1), "8")
        .by_default(1, "measured with one GPU")};

// One step of one GPU without communication, to which estimated times are scaled.
inline constexpr std::array kMeasuredStep{
    number("step_s",
           "Time of the step, s: forward and backward pass of one micro-batch and update, on one "
           "GPU.",
           io::above(0), "0.5")
        .required(),
    integer("batch_size", "Samples of that step, where they were not those of the workload.",
            io::at_least(1), "4")
        .nullable(),
    integer("sequence_length", "Tokens per sample of that step, likewise.",
            io::between(1, io::keys::kMaxTokens), "1024")
        .nullable()};

// The times come from exactly one of trace, model and layers; some of the other keys belong to one
// of these only (kModelKeys in rules.hpp).
inline constexpr std::array kWorkload{
    text("trace", "Trace file, relative to this file, or the name of a shipped trace.",
         R"("../traces/resnet50.json")"),
    text("model",
         "Name of a shipped model table, or a file: a table, or the config.json of a "
         "Hugging Face model.",
         R"("resnet50")"),
    list("layers", kLayers, "Layers in forward order.",
         R"([{"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000}])")
        .sizes(1),
    integer("batch_size",
            "Samples per worker and iteration: the batch size of a GPU. A model needs it. Beside a "
            "trace, which gives the "
            "default, and beside layers it scales throughput alone: their times stay as they are.",
            io::at_least(1), "64")
        .nullable(),
    object("device", kDevice, "Speed of the device, which gives the times of a model's layers.",
           R"({"flops_Ps": 2e13, "utilization": 0.5})"),
    word("gpu", layers::gpu_words,
         "GPU for which the times of a model's layers are estimated, from its peak, its memory "
         "bandwidth and what matrix products reach. mi250 is a card of two dies, mi250-gcd one of "
         "them, as node type mi250x8 counts GPUs.",
         R"("h100")"),
    word("dtype", layers::kPrecisions,
         "Number format of the matrix products of the estimate; everything else stays in 16 bits. "
         "The default is bf16, or fp16 on a GPU without it.",
         R"("bf16")")
        .because("mixed precision in the GPU's usual format"),
    word("recompute", layers::kRecomputes,
         "What the backward pass of the estimate computes again instead of keeping it in memory: "
         "nothing, the scores of plain attention (selective), all but attention and every second "
         "matrix product (selective_op, as torchtitan does), or the forward pass of all layers "
         "but the output head (full: activation checkpointing).",
         R"("full")")
        .by_default(layers::kRecomputes[layers::Recompute::none], "activations are kept in memory"),
    word("attention", layers::kAttentions,
         "How attention of a model is computed, which decides its memory: in pieces whose scores "
         "are not stored (FlashAttention), or with stored scores. Times do not depend on it.",
         R"("plain")")
        .by_default(layers::kAttentions[layers::Attention::flash],
                    "scores of attention are not stored"),
    word("loss", layers::kLosses,
         "How the loss over the words of a model's output head is computed, which decides its "
         "memory: operation by operation (eager), by one compiled kernel, or in chunks of the "
         "tokens (chunked, as Liger and torchtitan of 2026 do). Times do not depend on it.",
         R"("compiled")")
        .because("not known: as eager, and the range of the memory holds the others"),
    word("kernels", layers::kKernelWords,
         "Whether norms and activation functions of a model are single kernels (fused), or made "
         "of elementary ones that keep their results (composed; tensorflow, whose dropout keeps "
         "more than PyTorch's). Times do not depend on it.",
         R"("composed")")
        .because("not known: as fused, and the range of the memory holds the other"),
    boolean("accept_estimate",
            "Takes the estimate of a network without attention or on images, such as a "
            "convolutional one, which was not compared with measured steps.")
        .by_default(false),
    object("measured_step", kMeasuredStep,
           "A measured step of this model on this GPU. All times of the estimate are multiplied by "
           "the factor that makes it right there.",
           R"({"step_s": 0.5, "batch_size": 4})"),
    object("measured", kMeasured,
           "Measured totals that are spread over a model's layers: forward_s and backward_s, or "
           "compute_s.",
           R"({"forward_s": 0.03, "backward_s": 0.06})"),
    number("backward_factor", "Backward time of a model's layer, divided by its forward time.",
           io::at_least(0), "2.5")
        .by_default(2, "backward as two forward passes"),
    number("layer_overhead_s", "Time added to the forward pass of each layer of a model, s.",
           io::at_least(0), "1e-5")
        .by_default(0, "layers cost their arithmetic alone"),
    integer("sequence_length", "Tokens per sample. The model table gives the default.",
            io::at_least(1), "128")
        .nullable()
        .because("length of the model table"),
    integer("value_bytes", "Bytes of one gradient element of a model: 2 or 4.", io::at_least(1),
            "2")
        .only(kValueSizes)
        .by_default(4, "gradients are float32"),
    word("granularity", layers::kGranularities,
         "What a planner merges. The default is the granularity of the trace, else tensor.",
         R"("tensor")")
        .because("what the source of the workload sends as one gradient"),
    number("scale_backward_to_s", "Sum to which all backward times are scaled, s.", io::above(0),
           "0.1")
        .nullable()};

inline constexpr std::array kJobNodes{
    integer("nodes", "Nodes of this job. All jobs together have the nodes of the cluster.",
            io::at_least(1), "8")
        .required()};

// A job is a workload with its own nodes. Jobs share the cluster and the training algorithm.
inline constexpr std::array kJobs{
    object("workload", kWorkload, "One of several jobs, which have the nodes in their order.",
           R"({"trace": "../traces/resnet50.json", "nodes": 8})")
        .and_also(kJobNodes)
        .exactly_one("trace|model|layers")};

inline constexpr std::array kWorkloadForms{
    object("workload", kWorkload, "What one worker computes.",
           R"({"trace": "../traces/resnet50.json"})")
        .exactly_one("trace|model|layers"),
    list("workload", kJobs, "Jobs that share the network.",
         R"([{"trace": "../traces/resnet50.json", "nodes": 8}])")
        .sizes(1)};

} // namespace stepsim::study::keys
