#pragma once
// The measurements of a GPU as JSON Lines: one header, then one record per line, so that the lines
// of an interrupted run can still be used. Times are in seconds, sizes in bytes or elements. If
// ranks share a device, every line has `"where": "same device"`, because the messages cross no
// network.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::calibrate::gpu {

inline constexpr char kSameDevice[] = "same device";
// Whether a repetition may find its buffers in the L2 cache (warm), or not (cold), because at least
// twice the size of the cache was used since the repetition before.
inline constexpr char kCold[] = "cold";
inline constexpr char kWarm[] = "warm";

// The state of a device as NVML reports it [Hz, W, degrees Celsius]; empty = not reported.
struct DeviceState {
  std::optional<double> sm_clock_hz, memory_clock_hz, power_w, temperature_c;
  std::optional<std::uint64_t> throttle_reasons; // bits nvmlClocksThrottleReason*; 0 = none
};

struct DeviceFacts {
  std::string name;
  int multiprocessors{};
  std::int64_t memory_bytes{};
  std::int64_t l2_bytes{};
  std::string compute_capability{}; // "9.0"
  std::optional<bool> ecc{};
  DeviceState before{}, after{};
};

struct Header {
  std::string program;  // "gpu_bench 0.1.0"
  std::string revision; // git revision of the program; "" = unknown
  std::string command;
  std::string date; // "2026-01-31T12:00:00Z"
  std::string compiler;
  std::string driver;       // "" = unknown
  std::string cuda_runtime; // "13.0"
  std::string cuda_driver;
  std::uint32_t ranks = 1;
  std::uint64_t seed{};
  bool same_device = false;
  std::vector<DeviceFacts> devices;
  // [from][to] whether device `from` can access the memory of device `to`; empty in a job of
  // several processes.
  std::vector<std::vector<bool>> peer_access;
  // [rank] In a job of several processes: the number of the rank's host, and the JSON of its device
  // from text_of(). Else empty.
  std::vector<std::uint32_t> hosts{};
  std::vector<std::string> device_of_rank{};
};
// The facts of a device and its state before the measurement, as a JSON object.
[[nodiscard]] std::string text_of(const DeviceFacts& device);

struct CollectiveRecord {
  std::string op, algorithm;
  std::string variant; // how data were copied: copy_engine, host_staged; nccl = by NCCL
  std::string launch;  // plain, graph
  std::uint32_t ranks = 1;
  std::int64_t bytes{};
  std::int64_t block_bytes{}; // lp only, else 0
  std::uint32_t sets = 1;     // number of buffers used in turn, to keep the next one out of cache
  std::string cache{};        // kCold or kWarm; "" = unknown
  int pass{};                 // from 0
  int repeats = 1;            // calls per sample
  // One per sample: seconds of one call, or of one message where a call has several.
  std::vector<double> time_s{};
};

struct KernelRecord {
  std::string kernel, distribution;
  std::int64_t n{};
  std::int64_t k{};          // number of entries requested
  std::int64_t achieved_k{}; // number of entries selected
  // Sum of |v| over the selected entries divided by the sum over all; empty if the output list was
  // too short for the selected entries.
  std::optional<double> mass_kept{};
  // Number of entries above the threshold that did not fit in the intermediate list; if > 0, the
  // times are of less work than a correct selection needs.
  std::int64_t lost{};
  std::string cache{}; // kCold or kWarm; "" = unknown
  int pass{};
  int repeats = 1;
  std::vector<double> time_s{};
};

// A way of copying and launching that is not timed, because CUDA refused it or a result was wrong.
struct UnusableRecord {
  std::string variant, launch;
  std::string reason;
  bool wrong = false; // a result was wrong, so that the whole run fails at its end
};

// Times of messages between two devices [s per message of one direction], by `kind`:
//   pingpong   from src to dst and back, one message after the other
//   one_way    from src to dst, several in a row
//   exchange   both directions at once, several in a row
//   shift      every rank to the next rank at once, several in a row; src and dst are 0
struct PairRecord {
  std::string kind, variant, launch;
  std::uint32_t src{}, dst{};
  std::int64_t bytes{};
  int pass{};
  int repeats = 1;
  std::vector<double> time_s{};
};

// Number of cases of `what` (combinations such as size and number of ranks) whose results were
// compared with the host before timing.
struct VerifiedRecord {
  std::string what;
  std::int64_t cases{};
};

// Each function returns one line with its line end.
[[nodiscard]] std::string line(const Header& header);
[[nodiscard]] std::string line(const CollectiveRecord& record, bool same_device);
[[nodiscard]] std::string line(const KernelRecord& record, bool same_device);
[[nodiscard]] std::string line(const VerifiedRecord& record, bool same_device);
[[nodiscard]] std::string line(const UnusableRecord& record, bool same_device);
[[nodiscard]] std::string line(const PairRecord& record, bool same_device);
// The last line: the state of every device after the measurement, and the reason if the measurement
// ended early; "" = it did not.
[[nodiscard]] std::string end_line(const std::vector<DeviceFacts>& devices, bool same_device,
                                   const std::string& early = "");
// A remark that the calibration repeats as a warning.
[[nodiscard]] std::string note_line(const std::string& note, bool same_device);

} // namespace stepsim::calibrate::gpu
