#pragma once
// The result of a run: a summary of numbers, the buckets, the iterations, and the scenario.
// result_file.hpp writes it as JSON, with the same keys for every run; missing values are null.

#include "collectives/method.hpp"
#include "run/network_result.hpp"
#include "run/summary.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

struct Bucket {
  std::int64_t index{}; // launch order, from 0
  std::int64_t unit{};  // its place in the plan, from 0, by which operations of a program know it
  // First and last layer with a gradient in the bucket, from 1 in backward order.
  std::int64_t first{}, last{};
  Bytes bytes;
  std::int64_t elements{};
  std::int64_t items{};                 // number of gradients
  double ready_s{}, start_s{}, end_s{}; // from the start of the iteration
  double exposed_s{};                   // part of the exchange that is not hidden by compute
  std::string algorithm;
};

struct LayerResult {
  std::string name;
  double forward_start_s{}, forward_end_s{}; // from the start of a steady iteration
  double backward_start_s{}, backward_end_s{};
  // End of the last message with its gradients; 0 for a layer without gradients. In a run as a
  // program, all-gathers are not counted among these messages.
  double gradient_done_s{};
};

// One iteration: times in seconds from the start of the run, and two durations: iteration_time_s,
// which lasts to the same point of the next iteration, and exposed_communication_s.
struct Iteration {
  std::int64_t index{};
  double start_s{}, compute_end_s{}, exchange_start_s{}, exchange_end_s{};
  double iteration_time_s{}, exposed_communication_s{};
  std::optional<std::int64_t> applied_gradient; // iteration whose gradient this one applies
  std::optional<double> density{};              // selected entries / elements, if compressed
  std::optional<std::int64_t> k{};              // entries selected per rank
  std::optional<double> loss_fraction{};        // lost bytes / bytes of the gradients
};

// The messages of one bucket in the last iteration, at the packet level (PKT 8). The counts are
// explained in links/packet/message.hpp.
struct TensorResult {
  std::int64_t bucket{};
  bool gradient = true; // false: parameters that return from a server
  std::int64_t size_bytes{}, delivered_bytes{}, packets{}, delivered_packets{};
  std::int64_t lost_network_bytes{}, lost_stopped_bytes{}, wasted_bytes{};
  std::int64_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
  double complete_s{}; // end of the last message, from the start of the iteration
  [[nodiscard]] std::optional<double> delivered_fraction() const {
    return size_bytes > 0 ? std::optional(static_cast<double>(delivered_bytes) /
                                          static_cast<double>(size_bytes))
                          : std::nullopt;
  }
};

// One of several jobs on a network: its mean steady period, alone and while all jobs run.
struct JobTimes {
  std::string name;
  std::int64_t nodes{};
  // Empty if no steady iteration of this job ended while all jobs ran.
  std::optional<double> together_s;
  double alone_s{};
};

struct WorkerResult { // one per worker if workers differ; means per iteration
  std::int64_t worker{};
  double compute_s{};
  double straggler_wait_s{}; // waiting for slower workers, which does not count as communication
  // Communication without waiting for slower workers; asynchronous: includes waiting at the server.
  double transfer_s{};
};

// A sharding unit: the durations of its gather and reduction, and the interval of the last
// iteration, in seconds from its start, in which its parameters are in memory.
struct UnitResult {
  std::int64_t index{};         // forward order, from 0
  std::int64_t first{}, last{}; // layers, from 1 in forward order
  std::int64_t parameters{};    // rounded up to a multiple of the ranks that share them
  double gather_s{}, reduce_s{};
  double live_from_s{}, live_to_s{};
};

// A program with the times of its operations.
struct ProgramRun {
  programs::Program program;
  programs::OperationTimes times;
};

// For the timeline: the part of a link's capacity that the exchange of each bucket takes.
struct LinkHeat {
  links::LinkId link{};
  // [bucket]: part of the link's capacity (1 = all) that its exchange takes while it lasts.
  std::vector<double> of_bucket{};
};
inline constexpr std::size_t kHotLinks = 8; // number of links with a counter in the timeline

// A bucket of the imported trace: the time of its exchange in the trace, and the simulated time on
// the scenario's network with the number of ranks of the trace.
struct MeasuredExchange {
  std::int64_t index{};
  Bytes bytes;
  double measured_s{}; // median over the steps of the trace
  double simulated_s{};
};

// What of a result is made: the summary, method and warnings, bit for bit those of the whole
// result; everything, of which the program may have the times of the last iterations alone; or
// everything with the times of every iteration. Lists that these need are made, too, and a run that
// has no cheaper way may make more than is asked for.
enum class Detail { summary, all, every_iteration };
// The last iterations that a program has the times of, at least.
inline constexpr std::int64_t kTimedIterations = 3;

// A measured step of the same series, and the iteration time that it corrects.
struct MeasuredTotal {
  std::vector<std::string> at{}; // POINTER=VALUE that the scenario had when it was measured
  double measured_s{};
  double predicted_s{};                    // of the scenario that was measured
  double step_s{};                         // of this scenario, corrected
  std::optional<double> low_s{}, high_s{}; // hold 80 % of real runs; under typical conditions
  std::optional<double> samples_per_s{}, time_to_finish_s{}, cost_usd{}; // at that step
  [[nodiscard]] std::optional<base::Band> band() const {
    return low_s ? std::optional(base::Band{*low_s, high_s.value(), kLevel80}) : std::nullopt;
  }
};

struct Result {
  std::optional<Scenario> scenario; // set with lists
  std::string method;               // closed_form, max_plus, events
  // How exchanges were timed, whatever played the step or program.
  std::optional<collectives::Method> exchange_method;
  Summary summary;
  std::optional<MeasuredTotal> measured_total;
  std::vector<Iteration> iterations;
  std::vector<WorkerResult> workers;
  std::vector<Bucket> buckets;
  std::vector<UnitResult> units;          // sharded training only
  std::optional<ProgramRun> program;      // set if the run was evaluated as a program
  std::vector<ProgramRun> other_programs; // those of the other jobs, for the timeline
  std::vector<LayerResult> layers;
  std::vector<LinkResult> links; // [link of the fabric]
  std::vector<TensorResult> tensors;
  std::vector<JobTimes> jobs; // set for several jobs; all other members but links are for the first
  std::uint64_t events{};
  std::optional<std::uint64_t> packet_hops;
  // Factor by which ranks or messages lie outside of the range of the calibration; 1 inside, empty
  // if the calibration gives no range.
  std::optional<double> extrapolation_factor;
  std::vector<DefaultValue> defaults; // filled by the command `run`, which has the file
  std::vector<NamedFile> files;       // filled by the command `run`
  std::vector<MeasuredExchange> measured_exchanges; // filled by the command `run`, for a trace
  std::vector<std::string> warnings;
  std::vector<programs::JobMessage> messages; // of one job, for the timeline
  std::vector<LinkHeat> heat;                 // for the timeline: the busiest links
};

} // namespace stepsim::study
