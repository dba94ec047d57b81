#pragma once
// The keys of a trace file (kind trace, IO 3): the compute of one worker in one iteration, layer by
// layer in forward order, with the gradients that each layer sends. `stepsim import` writes traces
// from recordings of the PyTorch profiler, logs of Caffe and layer tables; users may write them by
// hand. /workload/trace of a scenario names the file. Times and sizes may be null: such a trace is
// valid, but `run` refuses it.
//
//     {"kind": "trace", "provenance": "measured", "layers": [
//       {"name": "conv1", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 37632}]}
#include "document/fields/members.hpp"
#include "document/fields/schema.hpp"
#include "layers/trace.hpp"
#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io::keys {

// The words of `dtype`, in every file with this key.
[[nodiscard]] inline std::vector<std::string_view> dtypes() {
  const auto words = layers::dtype_words();
  return {words.begin(), words.end()};
}

inline constexpr std::array<std::string_view, 2> kTimeBases{"kernel", "wall"};
// tensor and layer. The granularity `weight` is left out, because a trace does not mark which of
// its tensors are weights.
inline constexpr auto kTraceGranularities = layers::kGranularities.first<2>();
// The range of numbers of bytes and of elements, which are exact.
inline constexpr Range kCounts = between(0, kMostExact);

inline constexpr Key kTraceDtype =
    word("dtype", dtypes, "Element type. Without one the size of an element is unknown.",
         R"("float32")");
inline constexpr Key kTraceShapeSize =
    integer("shape", "Number of elements along a dimension.", at_least(1), "64");
inline constexpr std::array kTraceShape{kTraceShapeSize};

// A gradient of a layer. The reader checks elements, bytes, dtype and shape against each other, and
// the sum over the tensors against gradient_bytes of the layer.
inline constexpr std::array kTraceTensor{
    integer("elements", "Number of elements.", kCounts, "9408").nullable(),
    kTraceDtype,
    integer("bytes", "Bytes of the gradient.", kCounts, "37632").nullable(),
    integer("bucket", "Measured bucket that sent the gradient, from 0 in launch order.",
            at_least(0), "4")
        .nullable(),
    text("name", "Name of the parameter.", R"("conv1.weight")"),
    list("shape", kTraceShape, "Shape of the parameter, where it is known.", "[64, 3, 7, 7]"),
    integer(
        "extra_bytes",
        "Bytes that its bucket carries beside the gradients, for parameters without a gradient.",
        kCounts, "4096")
        .by_default(0)};
inline constexpr std::array kTraceTensors{object("tensors", kTraceTensor, "One gradient tensor.")};

// A layer of a trace with sizes only has no times; a layer without parameters has gradient_bytes 0.
inline constexpr std::array kTraceLayer{
    text("name", "Name of the layer.", R"("conv2d_1")").required(),
    number("forward_s", "Time of the forward pass, s; null where it is unknown.", at_least(0),
           "0.001")
        .nullable(),
    number("backward_s", "Time of the backward pass, s; null where it is unknown.", at_least(0),
           "0.001")
        .nullable(),
    integer("gradient_bytes", "Bytes of the layer's gradients; null where they are unknown.",
            kCounts, "37632")
        .nullable(),
    list("tensors", kTraceTensors, "Gradient tensors in the order in which they become ready.",
         R"([{"elements": 9408, "dtype": "float32", "bytes": 37632}])"),
    text("operation", "Operator of the framework that computes the layer.", R"("aten::conv2d")")};
inline constexpr std::array kTraceLayers{object("layers", kTraceLayer, "One layer.")};

// Times of a collective without the wait for the last rank, which follow from files of several
// ranks (INP 1.7).
inline constexpr std::array kTraceWait{
    number("wait_s", "Median time that the rank waits in a call, s.", at_least(0))};
inline constexpr std::array kTransferTimes{
    number("transfer_s",
           "Median time from the last rank's entry to the end, s; of several profiles only.",
           at_least(0), "0.0009")
        .nullable(),
    number("transfer_low_s", "5 % quantile of the transfer times, s; null below five steps.",
           at_least(0), "0.0008")
        .nullable(),
    number("transfer_high_s", "95 % quantile of the transfer times, s; null below five steps.",
           at_least(0), "0.001")
        .nullable(),
    list("wait_s", kTraceWait, "Median time that each rank waits for the last one in a call, s.",
         "[0.0001, 0]")};

// The buckets of gradients that the framework sent while the profile was taken. A run with schedule
// `trace` sends the same buckets.
inline constexpr std::array kTraceBucket{
    integer("index", "Number of the bucket; buckets are numbered from 0 in launch order.",
            at_least(0), "0"),
    integer("elements", "Number of elements.", kCounts, "9408").required(),
    integer("bytes", "Bytes of the bucket.", kCounts, "37632").required(),
    kTraceDtype,
    integer("tensors", "Number of tensors in the bucket.", at_least(0), "1").by_default(0),
    number("min_s", "Shortest measured all-reduce of the bucket, s; null without a kernel.",
           at_least(0), "0.001")
        .nullable(),
    number("median_s", "Median of the measured all-reduces, s.", at_least(0), "0.001").nullable(),
    number("max_s", "Longest measured all-reduce, s.", at_least(0), "0.001").nullable(),
    text("group",
         "replica where the bucket is the shard of a rank, reduced over the ranks with "
         "the same shard.",
         R"("replica")")};
inline constexpr std::array kTraceBuckets{
    object("buckets", kTraceBucket, "One bucket.").and_also(kTransferTimes)};

// The other collectives that the framework called, such as broadcasts of the buffers of batch
// normalization.
inline constexpr std::array kTraceCollective{
    text("op", "Operation.", R"("broadcast")").required(),
    integer("elements", "Number of elements.", kCounts, "53120").by_default(0),
    integer("bytes", "Bytes of one call.", kCounts, "37632").required(),
    kTraceDtype,
    integer("per_step", "Calls in each step.", at_least(0)).by_default(1),
    number("min_s", "Shortest measured call, s.", at_least(0), "0.001").nullable()};
inline constexpr std::array kTraceCollectives{
    object("collectives", kTraceCollective, "One kind of call.").and_also(kTransferTimes)};

// The layers that a sharded job (FSDP, ZeRO-3) gathers and reduces together (INP 1.6).
inline constexpr std::array kTraceUnitLayer{
    integer("layers", "Position of a layer, from 0.", at_least(0))};
inline constexpr std::array kTraceUnit{
    integer("elements", "Elements of the whole unit, padded to the group.", kCounts, "855654400")
        .required(),
    word("gather_dtype", dtypes, "Element type in which parameters are gathered.", R"("bfloat16")"),
    word("reduce_dtype", dtypes, "Element type in which gradients are reduced.", R"("float32")"),
    integer("gathers_forward", "Gathers in the forward pass of a step.", at_least(0)).by_default(1),
    integer("gathers_backward", "Gathers in the backward pass of a step.", at_least(0), "1")
        .by_default(0),
    list("layers", kTraceUnitLayer, "First and last layer of the unit.", "[0, 4]")};
inline constexpr std::array kTraceUnits{object("units", kTraceUnit, "One unit.")};
inline constexpr std::array kTraceSharding{
    integer("group_size", "Ranks that hold one shard each.", at_least(1), "8").required(),
    integer("world_size", "Ranks of the job.", at_least(1), "8").nullable(),
    boolean("reshard_after_forward", "Whether units are gathered again for the backward pass.")
        .by_default(false)};

[[nodiscard]] constexpr Key step_time(std::string_view sentence) {
  return number(sentence, at_least(0)).by_default(0).example("0.05");
}
inline constexpr std::array kStepTimes{
    of<&layers::MeasuredStep::wall>(step_time("Wall time of the step, s.")),
    of<&layers::MeasuredStep::gpu_busy>(step_time("Time in which the device runs any kernel, s.")),
    of<&layers::MeasuredStep::compute_busy>(
        step_time("Time in which the device runs a kernel that does not communicate, s.")),
    of<&layers::MeasuredStep::exposed_communication>(
        step_time("Time in which the device only communicates, s.")),
    of<&layers::MeasuredStep::forward>(step_time("Time of the forward pass, s.")),
    of<&layers::MeasuredStep::backward>(step_time("Time of the backward pass, s.")),
    of<&layers::MeasuredStep::gradient_nodes>(step_time(
        "Time of the nodes that accumulate gradients, s; the backward time holds it, too.")),
    of<&layers::MeasuredStep::update>(step_time("Time of the optimizer, s.")),
    of<&layers::MeasuredStep::framework>(
        step_time("Time of the framework's copies of gradients, s.")),
    of<&layers::MeasuredStep::input>(step_time("Time of copying the input, s.")),
    of<&layers::MeasuredStep::other>(step_time("Time of all other kernels, s.")),
    of<&layers::MeasuredStep::communication>(step_time("Time of the collectives, s.")),
    of<&layers::MeasuredStep::step>(
        step_time("Length of the step on the device, s: from the end of the work of the step "
                  "before it to the end of its own; the sum of the following six. 0 if unknown.")),
    of<&layers::MeasuredStep::step_compute>(step_time("Of it, the device computes, s.")),
    of<&layers::MeasuredStep::step_exchange>(
        step_time("Of it, the device only exchanges gradients or shards, s.")),
    of<&layers::MeasuredStep::step_other_collectives>(
        step_time("Of it, the device only runs other collectives, s.")),
    of<&layers::MeasuredStep::step_input>(
        step_time("Of it, the device only copies input, or waits for the loader of it, s.")),
    of<&layers::MeasuredStep::step_host>(
        step_time("Of it, the device waits for a launch of the host, s.")),
    of<&layers::MeasuredStep::step_idle>(
        step_time("Of it, the device waits for something else, s."))};

inline constexpr std::array kTraceStep{
    text("name", "Name of the step in the profile.", R"("ProfilerStep#5")").required(),
    boolean("used", "Whether the step counts in the medians of the layers.").by_default(false),
    integer("rank", "Position of the profile that has the step, from 0; of several profiles only.",
            at_least(0), "0")};
inline constexpr std::array kTraceSteps{
    object("steps", kTraceStep, "One measured step.").and_also(kRowKeys<kStepTimes>)};

inline constexpr std::array kTraceWaitFraction{
    number("wait_fraction", "Part of the rank's time in collectives.", between(0, 1))};
inline constexpr std::array kTraceLastRank{
    number("last_rank", "Part of the collectives.", between(0, 1))};

// Shows the user whether the import can be trusted; no prediction depends on it.
inline constexpr std::array kTraceChecks{
    integer("steps_used", "Number of steps in the medians.", at_least(0), "2").by_default(0),
    integer("backward_nodes", "Number of backward nodes in a step.", at_least(0), "181")
        .by_default(0),
    integer("backward_matched", "Number of backward nodes that were matched to a layer.",
            at_least(0), "181")
        .by_default(0),
    integer("gradient_nodes", "Number of nodes that accumulate gradients.", at_least(0), "161")
        .by_default(0),
    number("unattributed_fraction", "Share of the device time that was launched outside the steps.",
           between(0, 1))
        .by_default(0),
    number("gpu_busy_fraction", "Device time divided by wall time.", at_least(0), "0.24")
        .nullable(),
    number("rank_spread",
           "Compute time of the slowest rank less that of the fastest, divided by the median; of "
           "several profiles only.",
           at_least(0), "0.01")
        .nullable(),
    number("idle_fraction",
           "Part of the time from the first to the last item of the steps in which the device runs "
           "nothing.",
           between(0, 1), "0.77")
        .nullable(),
    number("launch_idle_fraction",
           "Part of the idle time in which the device waits for the host's next launch.",
           between(0, 1), "0.997")
        .nullable(),
    number("recompute_fraction",
           "Time of forward operators that run again in the backward pass, divided by the time of "
           "the forward pass.",
           at_least(0), "0.9")
        .nullable(),
    number("graph_fraction", "Part of the device time that lies in CUDA graphs.", between(0, 1),
           "0.4")
        .nullable(),
    list("wait_fraction", kTraceWaitFraction,
         "Part of the time in collectives that each rank waits for the last one.", "[0.9, 0.1]"),
    list("last_rank", kTraceLastRank, "Part of the collectives that each rank enters last.",
         "[0.25, 0.75]")};

inline constexpr std::array kTraceKeys{
    word("provenance", layers::kProvenances, "Where the times come from.").required(),
    kSource,
    text("device", "Device that computed the layers.", R"("NVIDIA A100")").nullable(),
    integer("ranks", "Number of workers of the measured run.", at_least(1), "2").nullable(),
    integer("batch_size", "Samples per worker and iteration.", at_least(1), "64").nullable(),
    word("time_basis", kTimeBases, "Kernel times as they are, or kernel times scaled to wall time.")
        .nullable(),
    word("granularity", kTraceGranularities,
         "What the source sends as one gradient: a parameter tensor, or all tensors of a layer. A "
         "workload follows it unless it says otherwise.",
         R"("layer")"),
    number("time_scale", "Factor by which the compute times were multiplied.", above(0))
        .by_default(1),
    integer("accumulation",
            "Micro-steps between two updates of the weights; the layers describe one of them. "
            "stepsim init writes it into /training.",
            at_least(1), "4")
        .nullable(),
    boolean("reduces_each",
            "Whether every micro-step reduces its gradients, and not only the last one.")
        .by_default(false),
    list("layers", kTraceLayers, "Layers in forward order.",
         R"([{"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 37632}])")
        .sizes(1)
        .required(),
    number("update_s",
           "Time of the weight update, s; with sharding that of the measured shard, and a scenario "
           "takes group_size times as much for all parameters.",
           at_least(0), "0.00069")
        .by_default(0),
    number("input_s", "Time of copying the input of a micro-step to the device, s.", at_least(0))
        .by_default(0),
    number("other_s", "Device time that belongs to no layer, s.", at_least(0)).by_default(0),
    number("framework_s", "Time of copies between gradients and buckets, s.", at_least(0), "0.0005")
        .by_default(0),
    list("buckets", kTraceBuckets, "Measured buckets in launch order.",
         R"([{"index": 0, "elements": 9408, "bytes": 37632}])"),
    list("collectives", kTraceCollectives, "Measured collectives that send no bucket.",
         R"([{"op": "broadcast", "bytes": 212480}])"),
    list("units", kTraceUnits,
         "Units of a sharded job in forward order. stepsim init writes them as "
         "/training/sharding/wrapping.",
         R"([{"elements": 855654400}])"),
    object("sharding", kTraceSharding,
           "How the job shards its units. stepsim init writes it as /training/sharding.",
           R"({"group_size": 8})"),
    list("steps", kTraceSteps, "Measured steps.", R"([{"name": "ProfilerStep#5", "used": true}])"),
    object("checks", kTraceChecks, "How well the profile could be split into layers.",
           R"({"steps_used": 2})"),
    kWarnings};

inline constexpr Key kTrace =
    object("trace", kTraceKeys,
           "Measured times and gradient sizes of the layers of one worker, in forward order.");

[[nodiscard]] FileKind trace_file();

} // namespace stepsim::io::keys
