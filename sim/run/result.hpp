#pragma once
// What a run gives: a summary of numbers, the buckets, the iterations, and where it came from. The
// same keys in every result; what does not exist is null. result_file.hpp writes it as JSON.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"
#include "run/network_result.hpp"
#include "run/summary.hpp"
#include "scenario/defaults.hpp"
#include "scenario/named_files.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct Bucket {
  std::int64_t index{}; // launch order, from 0
  // Gradients (items of plan/problem.hpp), from 1 in backward order; "layers" in files.
  std::int64_t first{}, last{};
  Bytes bytes;
  std::int64_t elements{};
  std::int64_t items{};                 // number of gradients
  double ready_s{}, start_s{}, end_s{}; // from the start of the iteration
  double exposed_s{};                   // how much of the exchange computation does not hide
  std::string algorithm;
};

struct LayerResult {
  std::string name;
  double forward_start_s{}, forward_end_s{}; // in a steady iteration, from its start
  double backward_start_s{}, backward_end_s{};
  double gradient_done_s{}; // end of the last message with its gradients; 0 without gradients
};

// Times from the start of the run, s, and two durations: iteration_time_s, to the same point of the
// next iteration, and exposed_communication_s.
struct Iteration {
  std::int64_t index{};
  double start_s{}, compute_end_s{}, exchange_start_s{}, exchange_end_s{};
  double iteration_time_s{}, exposed_communication_s{};
  std::optional<std::int64_t> applied_gradient; // iteration whose gradient its step applies
  std::optional<double> density;
  std::optional<std::int64_t> k;         // entries selected per rank
  std::optional<double> loss_fraction{}; // of the gradients' bytes
};

// The messages of one bucket in the last iteration, packet level (PKT 8); counts as in
// net/packet/message.hpp.
struct TensorResult {
  std::int64_t bucket{};
  bool gradient = true; // else parameters on their way back
  std::int64_t size_bytes{}, delivered_bytes{}, packets{}, delivered_packets{};
  std::int64_t lost_network_bytes{}, lost_stopped_bytes{}, wasted_bytes{};
  std::int64_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
  double complete_s{}; // from the start of the iteration
  [[nodiscard]] std::optional<double> delivered_fraction() const {
    return size_bytes > 0 ? std::optional(static_cast<double>(delivered_bytes) /
                                          static_cast<double>(size_bytes))
                          : std::nullopt;
  }
};

// One of several jobs on a network: mean steady period, alone and while all of them run.
struct JobTimes {
  std::string name;
  std::int64_t nodes{};
  std::optional<double> together_s; // empty: no iteration ended before the first job did
  double alone_s{};
};

struct WorkerResult { // only where workers differ; means per iteration
  std::int64_t worker{};
  double compute_s{};
  double straggler_wait_s{}; // for slower workers; never part of communication
  // Communication, waiting for slower workers left out; asynchronous: with waiting at the server.
  double transfer_s{};
};

// A sharding unit: its gather and reduction, and when its parameters are in memory in the last
// iteration, s from its start.
struct UnitResult {
  std::int64_t index{};         // forward order, from 0
  std::int64_t first{}, last{}; // layers, from 1 in forward order
  std::int64_t parameters{};    // rounded up to a multiple of the ranks that share them
  double gather_s{}, reduce_s{};
  double live_from_s{}, live_to_s{};
};

// A program and when its operations started and ended.
struct ProgramRun {
  program::Program program;
  program::OperationTimes times;
};

// For the timeline: a message of a job on the network, or what a bucket's exchange took of a link.
struct MessageLife {
  std::int64_t iteration{};
  std::uint32_t bucket{}, src{}, dst{}; // ranks; dedicated servers after the workers
  double start_s{}, end_s{};
};
struct LinkHeat {
  net::LinkId link{};
  std::vector<double> of_bucket; // [bucket] part of the link's capacity while the bucket is sent
};
inline constexpr std::size_t kHotLinks = 8; // with a counter in the timeline

// A bucket of the imported trace: how long its exchange took there, and how long it takes here with
// as many ranks.
struct MeasuredExchange {
  std::int64_t index{};
  Bytes bytes;
  double measured_s{}; // median over the steps of the trace
  double simulated_s{};
};

struct Result {
  Scenario scenario;
  std::string method; // closed_form, max_plus, events
  Summary summary;
  std::vector<Iteration> iterations;
  std::vector<WorkerResult> workers;
  std::vector<Bucket> buckets;
  std::vector<UnitResult> units;     // of sharded training
  std::optional<ProgramRun> program; // of training with micro-batches or sharding
  std::vector<LayerResult> layers;
  std::vector<LinkResult> links; // [link] of the fabric
  std::vector<TensorResult> tensors;
  std::vector<JobTimes> jobs; // where there are several; everything else but links is of the first
  std::uint64_t events{};
  std::optional<std::uint64_t> packet_hops;
  // How far ranks and messages leave the range of the calibration: 1 inside; empty where the
  // calibration gives no range.
  std::optional<double> extrapolation_factor;
  std::vector<DefaultValue> defaults; // filled by the command `run`, which has the file
  std::vector<NamedFile> files;       // likewise
  std::vector<MeasuredExchange> measured_exchanges; // likewise, for an imported trace
  std::vector<std::string> warnings;
  train::StepTimes step;             // for the timeline
  std::vector<MessageLife> messages; // for the timeline
  std::vector<LinkHeat> heat;        // for the timeline: the busiest links
};

} // namespace stepsim::study
