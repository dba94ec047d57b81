#pragma once
// How the device spends a step (all streams together; every moment counts once). A step lasts from
// the end of the work of the step before it to the end of its own, because the host runs ahead of
// the device, which may begin with the next step's work early:
//     stream 1   ..update| |forward...|backward...|  |update|
//     stream 2                  |exchange of gradients|
//     counts as          |h|compute...............|e|h|update|
// The first step of a recording begins with its own work, and lasts at least as long as on the
// host.
#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// A moment belongs to the first of these that the device does in it.
enum class DeviceUse : std::uint8_t {
  compute,
  exchange,          // of gradients or of shards of parameters
  other_collectives, // all others
  input,             // copies to the device
  loader,            // nothing: the host waited for input (DataLoader), so the next launch was late
  host,              // nothing: the next work was launched late for another reason
  idle               // nothing: the next work waited for something else
};
inline constexpr std::size_t kDeviceUses = 7;

struct DeviceStep {
  std::array<Nanoseconds, kDeviceUses> uses{};
  [[nodiscard]] Nanoseconds of(DeviceUse use) const { return uses[static_cast<std::size_t>(use)]; }
  [[nodiscard]] Nanoseconds length() const;
};

// Takes a recording window by window. Each window holds the steps behind those of the last one; the
// device may run work of a later window first.
class DeviceClock {
public:
  void add(const KinetoRecording& recording, std::span<const KinetoStep> steps,
           const Attribution& attribution, std::span<const CollectiveCall> calls);
  [[nodiscard]] std::vector<DeviceStep> finish(); // [step] of all windows

private:
  struct Span {
    Nanoseconds begin{}, end{};
    Nanoseconds due{}; // the device was idle for want of a launch if it was idle before
    DeviceUse use{};
  };
  struct Mark {
    Nanoseconds begin{}, end{}; // of the step's own computing and exchanges; end 0: none
    Nanoseconds host_begin{}, wall{};
  };
  [[nodiscard]] DeviceStep split(std::size_t& first, Nanoseconds begin, Nanoseconds end) const;
  [[nodiscard]] Nanoseconds in_loader(Nanoseconds begin, Nanoseconds end) const;

  std::vector<Span> spans_;          // of all windows
  std::vector<Mark> marks_;          // [step]
  std::vector<HostInterval> loader_; // in which the host waits for input
};

// Reduces one profiler file to what the trace needs: a sample per step, and the steps to use
// (IO 4.2, 4.5 rule 5; INP 1.3). Steps are removed in this order:
//   - steps without device work;
//   - the first `skip_steps` steps, but at least one step stays;
//   - the first of the remaining steps, while its device time exceeds the median of the later ones
//     by more than a fifth, but at least two steps stay;
//   - steps that are not in the largest group with the same layers (of equal groups, the first).

// Sharded jobs (FSDP, ZeRO-3; INP 1.6): a unit is gathered before its forward pass, and again
// before its backward pass if it was freed in between; its gradient is reduced and scattered as one
// message. A step is sharded if it calls all-gather, calls reduce-scatter in its backward pass, and
// meets one of three conditions: no all-reduce is above 1 MB; those above are all of shards (HSDP);
// or the recording has annotations of FSDP.
struct ShardedStep {
  layers::MeasuredSharding sharding;
  bool reduces_each = false;               // every micro-step of several, not only the last one
  std::vector<layers::MeasuredUnit> units; // in forward order
};

// Empty if the step is not sharded. Every reduce-scatter of the backward pass is a unit, whose
// elements are those of its input. An all-gather belongs to a unit with as many elements as its
// output; units of one size take turns. If the backward pass gathers fewer units than there are,
// the last ones of the forward pass were kept. The layers of a unit are those inside its forward
// annotations, else those between its gather and the next unit's.
[[nodiscard]] std::optional<ShardedStep>
sharded_step(const KinetoRecording& recording, const KinetoStep& step, const StepSample& sample);

// With replicas of the sharded groups (HSDP) the shards of gradients are all-reduced over a second
// group, of another size. Moves such calls to `replicas` of the step, from its buckets and its
// other collectives. Changes nothing if the step has a bucket that is not a shard.
void separate_replicas(const ShardedStep& sharded, StepSample& step);

// One file: all its steps, and which of them are used.
struct KinetoRank {
  std::string file;
  std::optional<std::string> device;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> rank;
  bool record_shapes = false;        // whether shapes were recorded, by the file's own word
  std::vector<KinetoStep> intervals; // [step]
  std::vector<StepSample> steps;
  std::vector<std::size_t> used; // ascending indices into `steps`, at least one
  // Share of device time launched outside all steps or by an unknown launch.
  double unattributed_fraction{};
  bool forward_only = false;          // the file has no backward nodes
  std::vector<DeviceStep> device_use; // [step]
  std::vector<CollectiveCall> calls;  // all calls of the file, in order of start
  std::size_t gpus{};                 // with kernels; a GPU is a process of the file
  std::optional<ShardedStep> sharded; // from the last used step
  std::vector<std::string> warnings;

  [[nodiscard]] const StepSample& first() const { return steps[used.front()]; }
};

// The steps of a recording, one sample each. A recording whose events are in a file is looked at in
// windows of some steps, so that memory does not grow with the number of steps:
//     steps    | 0 | 1 |  | 2 | 3 |  | 4 |
//     windows  ....0......|....1.....|.2...
// Operators and annotations belong to every window that they reach into, launches to the one in
// which they start, work of the device to that of its launch. The samples are the same as if all
// events were in memory.

class KinetoWindows {
public:
  explicit KinetoWindows(KinetoRecording& recording) : recording_(recording) {}

  // Samples all steps into `rank`, with the device time outside of them, and all calls. Calls
  // demote_ranges(). Throws InputError if there is no device work or no step, and UsageError for a
  // wrong regular expression.
  void sample(const std::optional<std::string>& step_annotation, KinetoRank& rank);
  // Puts the events of the window that contains the step into recording.events; nothing happens if
  // all events are in memory. Call it after sample().
  void load(std::size_t step);

private:
  struct Range {
    std::size_t first_step{}, last_step{}; // half-open
    Nanoseconds begin{}, end{};            // host time that the window covers
  };
  struct Window {
    Range range;
    KinetoEventFile events{};
  };
  void make_windows(const std::vector<KinetoStep>& steps);
  void fill_windows();
  void load(Window& window);
  void sample_into(KinetoRank& rank, const Range& range);

  KinetoRecording& recording_;
  std::vector<Operator> operators_; // of the recording, until they are attributed
  std::vector<Window> windows_;     // none where all events are in memory
  DeviceClock clock_;
  Nanoseconds device_time_{};   // sum over all work of the device
  Nanoseconds outside_steps_{}; // the part of it that was launched outside the steps
};

// Changes `recording`: operators that only enclose a part of the program become annotations. Throws
// InputError for no device work (in the file or in any step), no step, no forward operators, or
// backward nodes most of which match no forward operator, and UsageError for a wrong regular
// expression.
[[nodiscard]] KinetoRank reduce_rank(KinetoRecording& recording,
                                     const std::optional<std::string>& step_annotation,
                                     std::int64_t skip_steps);

// Whether both have the same operators with the same numbers of gradients.
[[nodiscard]] bool same_layers(const StepSample& a, const StepSample& b);

// The warnings of a single file as they are. With several files, warnings that differ only in their
// numbers become one: "rank0 and 7 other files (with other numbers): 12 steps ..", which has the
// name and the numbers of the first such file.
[[nodiscard]] std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
