#pragma once
// The keys of a calibration (kind network_calibration, CAL 5): latency, bandwidth and measured
// curves of a network, their quality, and further costs of training on the cluster.
// `stepsim-calibrate fit`, `mpi` and `cuda` write such files; some files in topologies/ are written
// by hand from data sheets. A scenario names a calibration (cluster.network.calibration). The
// simulator uses some of the keys; the others tell readers how the numbers were found, and are only
// checked.

#include "document/fields/schema.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::io::keys {

// Network models for which the parameters of /network may have been fitted.
inline constexpr std::array<std::string_view, 3> kProfileModels{"alpha_beta", "flow", "packet"};

// The names allowed in compression_costs: `any`, and every method that has costs.
[[nodiscard]] std::vector<std::string_view> names_with_costs();

// An estimate is one number, or {value, low, high} if a fit gives an interval:
//
//     "latency_s": 4.5e-6      "latency_s": {"value": 4.5e-6, "low": 3.9e-6, "high": 5e-6}
//
// The range of the number holds for `value`. The ends have no range, so that files of other origin
// may give a latency near 0 an interval that reaches below 0; intervals of stepsim-calibrate are
// cut at 0. The reader checks that `value` lies between the ends.
[[nodiscard]] constexpr std::array<Key, 3> interval_keys(Range range) {
  return {number("value", "Estimate.", range, "2").plain().required(),
          number("low", "Lower end. The default is the estimate.").plain().example("1"),
          number("high", "Upper end. The default is the estimate.").plain().example("3")};
}
[[nodiscard]] constexpr std::array<Key, 2> estimate_forms(std::string_view name, Range range,
                                                          std::span<const Key> interval) {
  return {number(name, "Estimate.", range),
          object(name, interval, "Estimate with its confidence interval.")};
}
inline constexpr auto kFromZero = interval_keys(at_least(0));
inline constexpr auto kFromOne = interval_keys(at_least(1));
inline constexpr auto kAboveZero = interval_keys(above(0));
inline constexpr auto kLatencyForms = estimate_forms("latency_s", at_least(0), kFromZero);
inline constexpr auto kBandwidthForms = estimate_forms("bandwidth_Bps", at_least(1), kFromOne);
inline constexpr auto kPerByteForms = estimate_forms("per_byte_s", above(0), kAboveZero);
inline constexpr auto kBlockLatencyForms =
    estimate_forms("block_latency_s", at_least(0), kFromZero);
inline constexpr auto kDelayForms = estimate_forms("delay_s", at_least(0), kFromZero);
inline constexpr auto kReductionForms = estimate_forms("reduction_Bps", at_least(0), kFromZero);

inline constexpr Key kBlockLatency =
    either("block_latency_s", kBlockLatencyForms,
           "Time per further block of a pipelined message, s.", "1e-6")
        .nullable();
inline constexpr Key kDelay = either("delay_s", kDelayForms,
                                     "Time from when the ports of a message are free until it is "
                                     "there, s: latency that holds no port.",
                                     "4.5e-6")
                                  .nullable()
                                  .by_default(0);
inline constexpr Key kReduction =
    either("reduction_Bps", kReductionForms,
           "Speed of adding, bytes/s; 0 means that adding takes no time.", "0")
        .nullable();

inline constexpr std::array kNumberOrigin{text("numbers", "Where the number comes from.")};
// The keys that `source` of a calibration has besides those of kSource.
inline constexpr std::array kProfileSource{
    text("date", "Date of the measurement.", R"("2026-01-31")"),
    map("numbers", kNumberOrigin,
        "Where single numbers of the file come from, by their JSON pointers.",
        R"({"/network/latency_s": "data sheet"})")};
inline constexpr std::array kProfileSources{
    text("source", "Where the numbers come from.").nullable(), kSource.and_also(kProfileSource)};

// The machine on which stepsim-calibrate measured; null if it is not known.
inline constexpr std::array kProfileDevice{
    text("name", "Name of the device.", R"("NVIDIA H100")").nullable(),
    integer("count", "Number of devices.", at_least(1), "8").nullable(),
    text("driver", "Version of the driver.", R"("550.54")").nullable(),
    number("sm_clock_Hz", "Clock of the multiprocessors while measuring, Hz.", above(0), "1.98e9")
        .plain()
        .nullable(),
    any("p2p", "Whether devices reach the memory of each other.", "true")};

// The range of the measurements. A run outside it is marked as extrapolated in its result.
inline constexpr std::array kValidRanks{integer("ranks", "A number of ranks.", at_least(1))};
inline constexpr std::array kValidBytes{number("bytes", "A size, bytes.", at_least(0))};
inline constexpr std::array kValidDensity{number("density", "A density.", at_least(0))};
inline constexpr std::array kProfileValid{
    list("ranks", kValidRanks, "Smallest and largest number of ranks.", "[8, 8]")
        .sizes(2, 2)
        .nullable(),
    list("bytes", kValidBytes, "Smallest and largest size, bytes.", "[1024, 1048576]")
        .sizes(2, 2)
        .nullable(),
    list("density", kValidDensity, "Smallest and largest density of sparse gradients.",
         "[0.001, 0.001]")
        .sizes(2, 2)
        .nullable(),
    integer("gpus_per_node", "Number of GPUs per node.", at_least(1), "8").nullable()};

// The parameters of a network in which all links are alike. A scenario uses them if the calibration
// has neither a curve of the collective nor a class for the link.
inline constexpr std::array kProfileNetwork{
    word("model", kProfileModels, "Network model that the parameters are for.")
        .by_default("alpha_beta"),
    word("transport", links::kCarriers,
         "Who moves the bytes, of a network between machines; tcp_cloud is TCP between rented "
         "virtual machines.",
         R"("rdma")"),
    word("bus", links::kBuses, "Kind of link, of a network inside a machine.", R"("nvlink")"),
    either("latency_s", kLatencyForms, "Time per message, s.", "4.5e-6").nullable(),
    either("bandwidth_Bps", kBandwidthForms, "Bytes per second and direction.", "1.25e9")
        .nullable(),
    number("nominal_Bps", "Rate of the network by its name, bytes/s, which lists compare with.",
           at_least(1), "1.25e9")
        .nullable(),
    boolean("fitted", "Whether bandwidth_Bps was fitted to times of exchanges: it then contains "
                      "what typical conditions take from a rate.")
        .by_default(false),
    kDelay,
    kReduction.by_default(0),
    kBlockLatency};

inline constexpr std::array kBoundName{text("at_bound", "Name of a value.")};
inline constexpr Key kAtBound =
    list("at_bound", kBoundName, "Values that the fit held at 0 because the data want less.",
         R"(["latency_s"])");

// Time per byte with traffic both ways / time per byte with traffic one way: 1 for full duplex, 2
// for a link whose directions share the bandwidth.
inline constexpr std::array kDuplex{
    number("exchange", "Time while pairs of ranks exchange, relative to one direction alone.",
           above(0), "1.1")
        .nullable(),
    number("shift", "Time while every rank sends to the next, relative to one direction alone.",
           above(0), "1.1")
        .nullable()};

inline constexpr std::array kProfileLinkKeys{
    word("class", links::kLinkClasses, "Kind of link. Copies within one device are no network.",
         R"("network")")
        .required(),
    either("latency_s", kLatencyForms, "Time per message, s.", "4.5e-6").required(),
    either("per_byte_s", kPerByteForms, "Time per byte, s.", "2.1e-12").required(),
    kDelay,
    kBlockLatency,
    kReduction,
    object("duplex", kDuplex, "How much traffic in both directions slows a link down.",
           R"({"exchange": 1.1})"),
    number("reply_s", "Time of an empty reply, s. Senders of trees that spread data wait for one.",
           at_least(0), "1e-5")
        .nullable(),
    kAtBound};
inline constexpr std::array kProfileLink{
    object("links", kProfileLinkKeys, "Parameters of one kind of link.")};

// One line of a measured curve. The segments of a curve ascend and do not overlap. The first may
// lack its beginning and the last its end, if the source does not give them.
inline constexpr std::array kCurveSegmentKeys{
    number("from_bytes", "Smallest size of the segment, bytes.", at_least(0), "1024")
        .nullable()
        .by_default(0),
    number("to_bytes",
           "Largest size of the segment, bytes. Null means that the source does not say.",
           at_least(0), "1048576")
        .nullable(),
    number("startup_s", "Time of an empty message, s.", at_least(0), "5e-5").required(),
    number("per_byte_s", "Time per byte, s.", at_least(0), "3.8e-12").required(), kAtBound};
inline constexpr std::array kCurveSegment{
    object("segments", kCurveSegmentKeys, "Sizes with one line T(m) = startup_s + per_byte_s m.")};

// A curve as points with straight lines between them, if a few segments do not describe it.
inline constexpr std::array kCurvePointNumbers{
    number("points", "Bytes, or seconds.", above(0)).plain()};
inline constexpr std::array kCurvePoint{
    list("points", kCurvePointNumbers, "[bytes, seconds]").sizes(2, 2)};

// The quality of a fit, for readers only; runs do not use it.
inline constexpr std::array kResidualNumbers{any("residuals", "A number.")};
inline constexpr std::array kCurveResidual{
    list("residuals", kResidualNumbers, "[bytes, measured, fitted]").sizes(3, 3)};
inline constexpr std::array kCriterion{number("bic", "Value with that many segments.").plain()};
inline constexpr std::array kCurveFit{
    list("bic", kCriterion, "Bayesian information criterion for 1, 2, 3 ... segments.", "[-75]"),
    number("median_relative_error", "Median of the relative errors.", at_least(0), "0.001")
        .nullable(),
    number("max_relative_error", "Largest relative error.", at_least(0), "0.01").nullable(),
    integer("points", "Number of sizes.", at_least(0), "10").nullable(),
    number("left_out_median_relative_error",
           "Median of the errors on sizes that were left out of the fit, one at a time.",
           at_least(0), "0.002")
        .nullable(),
    number("left_out_p90_relative_error",
           "90th percentile of the same errors, from which the grade follows.", at_least(0), "0.02")
        .nullable(),
    number("left_out_max_relative_error", "Largest of the same errors.", at_least(0), "0.03")
        .nullable()};

// A curve holds for one operation, one algorithm and exactly one number of ranks.
inline constexpr std::array kCurveKeys{
    word("op", kSampleOps, "Operation.", R"("allreduce")").required(),
    text("algorithm", "Algorithm, or the name of the library that chose it.", R"("nccl")")
        .required(),
    integer("ranks", "Number of ranks.", at_least(1), "8").required(),
    text("column", "Column of the log.", R"("out-of-place")"),
    text("dtype", "Type of the elements.", R"("float32")"),
    word("start_up", links::kStartUps,
         "How the operation was measured: each one alone after a barrier, or several queued at "
         "once. Steps of several messages take the curve of a queue where there is one.",
         R"("queue")")
        .by_default(links::kStartUps[links::StartUp::alone]),
    list("segments", kCurveSegment, "Segments of the curve, ascending and disjoint.",
         R"([{"from_bytes": 1024, "to_bytes": 1048576, "startup_s": 5e-5, "per_byte_s": 3.8e-12}])")
        .sizes(1),
    list("points", kCurvePoint,
         "Points of the curve instead of segments: bytes strictly ascending, seconds not falling. "
         "Between them the time is a straight line.",
         "[[1024, 5.1e-5], [1048576, 7e-5]]")
        .sizes(kCostTable.least),
    list("residuals", kCurveResidual, "What was measured and what the curve gives.",
         "[[1024, 5.1e-5, 5e-5]]"),
    object("fit", kCurveFit, "How well the curve fits.", R"({"points": 10})")};
inline constexpr std::array kCurve{
    object("collectives", kCurveKeys, "Measured time of one operation by its bytes.")
        .exactly_one("segments|points")};

// How much longer dense all-reduces took in training than the network model predicts (SPA 9).
inline constexpr std::array kInflationRanks{integer("ranks", "A number of ranks.", at_least(1))};
inline constexpr std::array kInflationFactor{
    number("factor", "How many times longer.", above(0)).plain()};
inline constexpr std::array kInflation{
    list("ranks", kInflationRanks, "Numbers of ranks, strictly ascending.", "[4, 8]")
        .sizes(1)
        .required(),
    list("factor", kInflationFactor, "Factors, one per number of ranks.", "[1.295, 1.299]")
        .sizes(1)
        .required()};

// A cost that a method lacks is taken from `any`; without that it is 0.
inline constexpr auto kProfileCosts = cost_keys([](const Key& key) { return key.nullable(); });
inline constexpr std::array kMethodCosts{
    object("compression_costs", kProfileCosts, "What one method costs.")};

// Compression kernels that stepsim-calibrate timed: lists with one entry per measurement, and the
// line fitted to the medians, from which /compression_costs was made.
[[nodiscard]] constexpr Key kernel_list(std::string_view name, std::string_view sentence,
                                        std::span<const Key, 1> element) {
  return list(name, element, sentence).example("[1]");
}
[[nodiscard]] constexpr Key kernel_number(std::string_view name) {
  return number(name, "Value of one measurement.", at_least(0));
}
inline constexpr std::array kKernelN{kernel_number("n").plain()};
inline constexpr std::array kKernelK{kernel_number("k").plain()};
inline constexpr std::array kKernelAchieved{kernel_number("achieved_k").plain()};
inline constexpr std::array kKernelMedian{kernel_number("median_s")};
inline constexpr std::array kKernelLow{kernel_number("p10_s")};
inline constexpr std::array kKernelHigh{kernel_number("p90_s")};
inline constexpr std::array kKernelConstant{number("fit", "A constant.", at_least(0)).plain()};
inline constexpr std::array kKernelLists{
    kernel_list("n", "Number of elements of each measurement.", kKernelN),
    kernel_list("k", "Number of entries that were asked for.", kKernelK),
    kernel_list("achieved_k", "Number of entries that were selected.", kKernelAchieved),
    kernel_list("median_s", "Median time, s.", kKernelMedian),
    kernel_list("p10_s", "Time that 10 % of the runs stay below, s.", kKernelLow),
    kernel_list("p90_s", "Time that 90 % of the runs stay below, s.", kKernelHigh)};
inline constexpr std::array kKernelKeys{
    text("kernel", "Name of the kernel.", R"("radix_select")").required(),
    map("fit", kKernelConstant, "Fitted constants by their names.", R"({"c0_s": 1e-6})"),
    text("device", "Name of the device.", R"("H100")"),
    text("driver", "Version of the driver.", R"("550")"),
    text("distribution", "Distribution of the data.", R"("gaussian")")};
inline constexpr std::array kKernel{
    object("kernels", kKernelKeys, "Times of one kernel.").and_also(kKernelLists)};

inline constexpr std::array kIdentifiable{
    boolean("latency", "Whether the data determine the latency.").by_default(false),
    boolean("bandwidth", "Whether the data determine the bandwidth.").by_default(false),
    boolean("reduction", "Whether the data determine the speed of adding.").by_default(false)};

// The whole file. At least one of network, links and collectives is there.
inline constexpr std::array kProfileKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name by which scenarios find a shipped calibration.", R"("my-cluster")")
        .required(),
    word("label", links::kProfileLabels, "How far to trust the numbers.").required(),
    text("note", "A remark for readers, which results repeat.", R"("ring assumed")").by_default(""),
    either("source", kProfileSources, "Where the numbers come from: a text or an object.",
           R"("vendor data sheet")"),
    object("device", kProfileDevice, "Where the numbers were measured.",
           R"({"name": "NVIDIA H100"})"),
    object("valid", kProfileValid, "What was measured, beyond which numbers are extrapolated.",
           R"({"ranks": [8, 8]})"),
    object("network", kProfileNetwork, "Parameters of every link.",
           R"({"latency_s": 5e-5, "bandwidth_Bps": 1.25e9})"),
    list("links", kProfileLink, "Parameters by kind of link.",
         R"([{"class": "nvlink", "latency_s": 4.5e-6, "per_byte_s": 2.1e-12}])"),
    list(
        "collectives", kCurve, "Measured curves of collectives.",
        R"([{"op": "allreduce", "algorithm": "nccl", "ranks": 8, "segments": [{"from_bytes": 1024, "to_bytes": 1048576, "startup_s": 5e-5, "per_byte_s": 3.8e-12}]}])"),
    object("dense_inflation", kInflation,
           "How many times longer dense ring all-reduces take: the latency is multiplied by the "
           "factor, the bandwidth divided by it. Factors are linear in log2 of the ranks between "
           "two points, and those of the nearest point beyond.",
           R"({"ranks": [4, 8], "factor": [1.295, 1.299]})"),
    map("compression_costs", kMethodCosts,
        "What compressing costs, by method. The costs of any hold for every method that selects or "
        "encodes; those of a method add to them or replace them.",
        R"({"any": {"select_s_per_element": 6.1e-9}, "topk": {"scatter_s_per_entry": 1.63e-6}})")
        .named(names_with_costs),
    number("copy_bandwidth_Bps",
           "Speed of copies into and out of merged messages, bytes/s, for scenarios that say "
           "calibrated.",
           above(0), "6e11")
        .nullable(),
    list("kernels", kKernel, "Kernels whose time was measured.", "[]"),
    object("identifiable", kIdentifiable, "Which parameters the data determine.",
           R"({"latency": true})"),
    word("grade", links::kGrades, "Grade of the fit.").nullable(),
    kWarnings};

inline constexpr Key kProfile =
    object("network_calibration", kProfileKeys,
           "A network: latency, bandwidth and speed of adding, or measured curves of collectives. "
           "At least one of network, links and collectives is given.")
        .at_least_one("network|links|collectives");

[[nodiscard]] FileKind profile_file();

} // namespace stepsim::io::keys
