#pragma once
// The measurements of a GPU as JSON Lines: one header, then one record per line, so that the lines
// of an interrupted run can still be used. Times are in seconds, sizes in bytes or elements. If
// ranks share a device, every line has `"where": "same device"`, because the messages cross no
// network.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// How a record says a key whose value is 0 or "": as it is, not at all, or as null.
enum class Need { always, if_known, or_null };

// Every record has the word of its kind and its keys: `see` is called with each key and its member,
// and with the least number that is allowed and the need where these are not 0 and `always`.
// Writing (records.cpp) and reading (gpu_samples.cpp) both go by this list.
template <class Record, class See> void see_times(Record& record, const See& see) {
  see("pass", record.pass);
  see("repeats", record.repeats, 1.0);
  see("time_s", record.time_s);
}

struct CollectiveRecord {
  static constexpr std::string_view kWord = "collective";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("op", record.op);
    see("algorithm", record.algorithm);
    see("variant", record.variant);
    see("launch", record.launch);
    see("ranks", record.ranks, 1.0);
    see("bytes", record.bytes);
    see("dtype", record.dtype, Need::if_known);
    see("block_bytes", record.block_bytes, 0.0, Need::if_known);
    see("sets", record.sets, 1.0, Need::if_known);
    see("cache", record.cache, Need::if_known);
    see_times(record, see);
  }
  std::string op, algorithm;
  std::string variant;         // how data were copied: copy_engine, host_staged; nccl = by NCCL
  std::string launch;          // plain, graph
  std::string dtype = "float"; // one of kNcclTypes
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
  static constexpr std::string_view kWord = "kernel";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("kernel", record.kernel);
    see("distribution", record.distribution);
    see("n", record.n, 1.0);
    see("k", record.k);
    see("achieved_k", record.achieved_k);
    see("mass_kept", record.mass_kept);
    see("lost", record.lost, 0.0, Need::if_known);
    see("cache", record.cache, Need::if_known);
    see_times(record, see);
  }
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
  static constexpr std::string_view kWord = "unusable";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("variant", record.variant);
    see("launch", record.launch);
    see("reason", record.reason);
    see("wrong", record.wrong);
  }
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
  static constexpr std::string_view kWord = "pair";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("kind", record.kind);
    see("variant", record.variant);
    see("launch", record.launch);
    see("src", record.src);
    see("dst", record.dst);
    see("bytes", record.bytes, 1.0);
    see_times(record, see);
  }
  std::string kind, variant, launch;
  std::uint32_t src{}, dst{};
  std::int64_t bytes{};
  int pass{};
  int repeats = 1;
  std::vector<double> time_s{};
};

// Seconds of a product of two matrices of side x side values on a device, and of a collective of
// all ranks, each alone and while the other runs without end; one of each per sample.
struct OverlapRecord {
  static constexpr std::string_view kWord = "overlap";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("device", record.device);
    see("exchange", record.exchange);
    see("side", record.side, 1.0);
    see("bytes", record.bytes, 1.0);
    see("product_s", record.product_s);
    see("product_beside_s", record.product_beside_s);
    see("exchange_s", record.exchange_s);
    see("exchange_beside_s", record.exchange_beside_s);
  }
  std::uint32_t device{};
  std::string exchange; // "allreduce ring copy_engine graph P=2 n=16777216"
  std::int64_t side{};
  std::int64_t bytes{}; // of the collective
  std::vector<double> product_s{}, product_beside_s{}, exchange_s{}, exchange_beside_s{};
};

// Number of cases of `what` (combinations such as size and number of ranks) whose results were
// compared with the host before timing.
struct VerifiedRecord {
  static constexpr std::string_view kWord = "verified";
  template <class Record, class See> static void keys(Record& record, const See& see) {
    see("what", record.what);
    see("cases", record.cases);
  }
  std::string what;
  std::int64_t cases{};
};

// Each function returns one line with its line end.
[[nodiscard]] std::string line(const Header& header);
template <class Record>
[[nodiscard]] std::string line(const Record& record, bool same_device); // of the structs above
// The last line: the state of every device after the measurement, and the reason if the measurement
// ended early; "" = it did not.
[[nodiscard]] std::string end_line(const std::vector<DeviceFacts>& devices, bool same_device,
                                   const std::string& early = "");
// A remark that the calibration repeats as a warning.
[[nodiscard]] std::string note_line(const std::string& note, bool same_device);

} // namespace stepsim::calibrate::gpu
