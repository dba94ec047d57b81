#pragma once
// The first answer to a trace (`stepsim study`): what the recorded step holds beside its kernels,
// the step at other numbers of GPUs where these parts are kept, and what would help there.
//
//   trace -> machine -> gap -> carried trace, factors of conditions, start-up of exchanges
//         -> scenario at each number of GPUs -> changes at the largest

#include "import/nccl/library_measurements.hpp"
#include "study/explained.hpp"
#include "study/tune.hpp"

namespace stepsim::study {

// What a recorded step holds that the layer times of its trace do not, and how it is carried into a
// scenario. The device's time of a step (layers::MeasuredStep) is
//
//   step = computing + exposed exchange + other collectives + input + host + other waits
//
// of which a scenario with the trace has the computing of its layers and an exchange of its own.
// All but exchanges is carried as measured: layer times are stretched by host, other collectives
// and other waits, and input is read before each step. Of these, other collectives alone depend on
// the number of GPUs (a warning of the study says so).

// Means over steps and ranks, s.
struct DeviceTimes {
  std::int64_t steps{};
  double step_s{}, compute_s{}, exchange_s{}, other_collectives_s{}, input_s{}, host_s{}, idle_s{};
};

// One step of the job as each recorded rank measured it.
using JobStep = std::vector<layers::MeasuredStep>;

// The steps that count and whose time on the device is known, of all ranks that any step has: a
// rank's k-th step is the k-th of the others. Empty if the trace was not recorded with them. Where
// the user measured the step without the profiler, they are as long as that on average.
[[nodiscard]] std::vector<JobStep> timed_steps(const layers::Trace& trace);
// Whether no recorded step has a backward pass.
[[nodiscard]] bool has_forward_alone(const layers::Trace& trace);
[[nodiscard]] DeviceTimes device_times(std::span<const JobStep> steps);

// Cuts the advice to keep the time of a slow host from warnings about it: it is kept.
void leave_out_advice(std::vector<std::string>& warnings);

// What is carried: the factor on the times of layers, update and framework, and the time of input
// of a micro-step that nothing hides, s.
struct Carried {
  double stretch = 1;
  double input_s{};
};
[[nodiscard]] Carried carried_of(const layers::Trace& trace, const DeviceTimes& times);

// The trace with kernel times, and with those of `carried`; provenance and sizes stay.
[[nodiscard]] layers::Trace with_kernel_times(layers::Trace trace);
[[nodiscard]] layers::Trace with_carried(layers::Trace trace, const Carried& carried);

struct GapPart {
  std::string_view key; // "host"
  std::string words;    // "host: kernels launched late"
  double seconds{};
};
// What lies between the measured step and that of the trace's kernels over ideal links: the sum of
// the parts. Waiting for other ranks is known where files of several ranks were read.
struct TraceGap {
  DeviceTimes times;
  double ideal_s{};             // step of the kernels over ideal links
  std::vector<GapPart> parts{}; // the last one is the rest
};
// `trace` has kernel times; `exposed_s`: exposed communication of the ideal step.
[[nodiscard]] TraceGap gap_of(const layers::Trace& trace, const DeviceTimes& times, double ideal_s,
                              double exposed_s);

// The machines on which a trace was recorded: the node type with its GPU, and how many GPUs of how
// many machines its ranks were.

struct TraceMachine {
  std::string node_type; // a shipped node type, or a file
  std::int64_t nodes = 1, gpus_per_node = 1;
  std::string other_gpu{};           // that of the trace, where the node type may have another one
  std::vector<std::string> others{}; // further node types with the same GPU
  [[nodiscard]] std::int64_t gpus() const { return nodes * gpus_per_node; }
};

// The shipped node types with the GPU that the profiler named ("NVIDIA A100-SXM4-80GB"), those of
// the maker's reference design first. Empty if none has it.
[[nodiscard]] std::vector<std::string> node_types_of_gpu(const std::string& device, Files& files);

// `node_type`: the user's word; "": the first of node_types_of_gpu(). Ranks fill machine by
// machine. Empty if no node type is known, or if the ranks fill no whole number of machines.
[[nodiscard]] std::optional<TraceMachine> machine_of(const layers::Trace& trace,
                                                     const std::string& node_type, Files& files);

struct StudyOptions {
  std::string trace;              // path of a trace with kernel times
  std::string node_type, network; // names or files; "" = the machine of the trace, and its network
  std::vector<std::int64_t> gpus; // numbers to answer for, ascending
  bool ideal = false;             // kernel times over ideal links, nothing carried
  // Times of the library on machines of the node type; empty: its published constants.
  std::optional<io::LibraryMeasurements> logs = {};
  std::string folder; // of the files that are saved
  std::function<void(const std::string& path, const io::Json& tree)> save;
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

// A step that was predicted.
struct PredictedStep {
  double step_s{};
  std::optional<base::Band> band; // under typical conditions
};

struct StudyPoint {
  std::int64_t gpus{};
  PredictedStep step;
  std::optional<double> samples_per_s, efficiency;
  std::string_view bottleneck;
};

// The recorded step and what was carried from it.
struct TraceAnswer {
  TraceMachine machine;
  TraceGap gap{};
  Carried carried;
  double wait_s{};           // carried per step: what the factors of conditions leave unexplained
  PredictedStep predicted{}; // of the machine of the trace, with all that is carried
  // The mean step of the second half of the recorded steps, and what is predicted of it from the
  // first half alone; empty with fewer than two steps.
  std::optional<double> other_half_s{}, predicted_half_s{};
};

// The library's model, fitted to logs.
struct LibraryFromLogs {
  std::size_t points{};        // measured times, after repetitions became one
  nccl::ErrorNumbers left_out; // on shapes, or sizes, that were left out of the fit in turn
};

struct TraceStudy {
  std::string name;
  layers::Trace trace;         // with kernel times
  std::string machine_unknown; // why there is no answer to the trace itself; "" = there is
  std::optional<TraceAnswer> answer;
  std::optional<LibraryFromLogs> library; // from logs
  io::Json scenario;                      // at the largest number of GPUs; as it was saved
  std::string cluster;                    // "8 x dgx_a100" at the largest number
  std::vector<StudyPoint> points;
  Result largest;           // the run at the largest number
  std::vector<WhatIf> help; // at the largest number: shorter steps only
  std::vector<MeasureNext> measure_next;
  std::optional<DdpBuckets> buckets;
  io::Json emitted; // settings for DDP; null without `buckets`
  std::vector<std::string> assumed, warnings;
};

// Saves the scenario and what it reads besides. Throws UsageError for numbers of GPUs that fill no
// machines, for logs beside a network of one's own, and for a trace whose machine is unknown where
// no node type is given; InputError.
[[nodiscard]] TraceStudy trace_study(const StudyOptions& options, Files& files);

// What a change takes, the least first: a setting, other code, or money.
enum class Effort { free, software, hardware };
inline constexpr auto kEfforts = base::words<Effort>();
[[nodiscard]] Effort effort_of(ChangeKind kind);

// The output of `stepsim study --json` (kind study). One table of keys makes the writer and the
// schema.
[[nodiscard]] io::Json study_tree(const TraceStudy& study);

[[nodiscard]] io::FileKind study_kind();

} // namespace stepsim::study
