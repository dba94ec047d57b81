#pragma once
// What a GPU was measured to do, as JSON Lines: one header, then one record per line, so that an
// interrupted run is still worth something. Numbers are seconds, bytes, elements. A run whose ranks
// share a device carries `"where": "same device"` in every line, because its messages cross no
// network.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::calibrate::gpu {

inline constexpr char kSameDevice[] = "same device";
// Whether a repetition finds its buffers in the L2 cache: cold where at least twice the cache was
// used since.
inline constexpr char kCold[] = "cold";
inline constexpr char kWarm[] = "warm";

// The state of a device as NVML reports it; empty where it does not. Hz, W and degrees Celsius.
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
  std::string revision; // git, "" = unknown
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
  std::vector<std::vector<bool>> peer_access; // [from][to]; empty: a job of several processes
  // [rank] In a job of several processes: the number of the rank's host, and its device as
  // text_of() gives it.
  std::vector<std::uint32_t> hosts{};
  std::vector<std::string> device_of_rank{};
};
// The facts of a device and its state before the measurement, as a JSON object.
[[nodiscard]] std::string text_of(const DeviceFacts& device);

struct CollectiveRecord {
  std::string op, algorithm;
  // copy_engine, sm_store, host_staged; nccl; between processes mpi_staged, mpi_device
  std::string variant;
  std::string launch; // plain, graph
  std::uint32_t ranks = 1;
  std::int64_t bytes{};
  std::int64_t block_bytes{}; // lp only, else 0
  std::uint32_t sets = 1;     // buffers used in turn, so that the cache does not hold the next
  std::string cache{};        // kCold or kWarm; "" = unknown
  int pass{};                 // from 0
  int repeats = 1;            // calls per sample
  // One per sample: seconds of one call, or of one message where a call has several.
  std::vector<double> time_s{};
};

struct KernelRecord {
  std::string kernel, distribution;
  std::int64_t n{};
  std::int64_t k{};          // entries asked for
  std::int64_t achieved_k{}; // entries selected
  // Sum of |v| over the selected entries relative to all; empty if not all of them were written.
  std::optional<double> mass_kept{};
  std::int64_t lost{}; // entries that passed a threshold and found no room: the times are of less
  std::string cache{}; // kCold or kWarm; "" = unknown
  int pass{};
  int repeats = 1;
  std::vector<double> time_s{};
};

// A way of copying and launching that CUDA refuses here, or that gave a wrong result: it is not
// timed, all others are.
struct UnusableRecord {
  std::string variant, launch;
  std::string reason;
  bool wrong = false; // a wrong result, which the whole run fails for in the end
};

// Messages between two devices: `pingpong` one message after the other there and back, `one_way`
// from src to dst in a row, `exchange` in a row both ways at once; `shift` all ranks to the next at
// once (src and dst are 0). Seconds per message of one direction.
struct PairRecord {
  std::string kind, variant, launch;
  std::uint32_t src{}, dst{};
  std::int64_t bytes{};
  int pass{};
  int repeats = 1;
  std::vector<double> time_s{};
};

// How many cases (such as sizes and rank counts) of `what` were compared with the host before
// timing.
struct VerifiedRecord {
  std::string what;
  std::int64_t cases{};
};

[[nodiscard]] std::string line(const Header& header);
[[nodiscard]] std::string line(const CollectiveRecord& record, bool same_device);
[[nodiscard]] std::string line(const KernelRecord& record, bool same_device);
[[nodiscard]] std::string line(const VerifiedRecord& record, bool same_device);
[[nodiscard]] std::string line(const UnusableRecord& record, bool same_device);
[[nodiscard]] std::string line(const PairRecord& record, bool same_device);
// The last line: the state of every device after the measurement, and why it ended early; "" = it
// did not.
[[nodiscard]] std::string end_line(const std::vector<DeviceFacts>& devices, bool same_device,
                                   const std::string& early = "");
// A remark that the calibration repeats as a warning.
[[nodiscard]] std::string note_line(const std::string& note, bool same_device);

} // namespace stepsim::calibrate::gpu
