#pragma once
// Network profiles and topologies as plain values; scenario/files/network_files.hpp and
// scenario/files/network_files.hpp read and write them. A profile (kind network_calibration) has
// the latency, bandwidth, reduction rate and measured collective curves of a network, and a label
// for their origin.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace stepsim::links {

enum class ProfileLabel { measured, calibrated, default_value };
inline constexpr auto kProfileLabels =
    base::words<ProfileLabel>({{ProfileLabel::default_value, "default"}});

// The error of a fit, best first: ok is below 10 %, warn below 25 %, fail above. group_fit.hpp of
// calibrate defines the error of curves, gpu_fit.hpp the error of kernels.
enum class Grade { ok, warn, fail };
inline constexpr auto kGrades = base::words<Grade>();

struct CurveSegment { // T(m) = startup_s + per_byte_s m, s, for from_bytes <= m <= to_bytes
  double from_bytes{};
  double to_bytes{}; // infinite if the source does not give it
  double startup_s{}, per_byte_s{};
};

struct CurvePoint {
  double bytes{};   // > 0
  double seconds{}; // > 0
};

// How the start-up of a collective was measured: each one alone after a barrier, or several queued
// at once as in a backward pass, where start-ups overlap.
enum class StartUp { alone, queue };
inline constexpr auto kStartUps = base::words<StartUp>();

struct CollectiveCurve {
  std::string op;
  std::string algorithm;
  std::int64_t ranks{};
  std::string dtype; // of the elements, as the source names it; "" = unknown
  StartUp start_up{};
  std::vector<CurveSegment> segments;
  // Set if the file gives points instead of segments: bytes ascend strictly, seconds do not fall.
  // The segments are then the lines between neighbouring points (curve_through).
  std::vector<CurvePoint> points;
};

// Kinds of links that are calibrated separately; same-device is a copy within one memory.
inline constexpr std::array<std::string_view, 5> kLinkClasses{"network", "nvlink", "pcie", "host",
                                                              "same-device"};
struct LinkClass {
  std::string name; // one of kLinkClasses
  double latency_s{};
  double per_byte_s{};
  std::optional<double> block_latency_s{}; // as measured; further_block_s() is for simulations
  // Time per byte while every rank also receives / time per byte of one direction alone. exchange:
  // the rank receives from its destination; shift: from another rank.
  std::optional<double> duplex_exchange{}, duplex_shift{};
  std::optional<double>
      reply_s{};    // time of the empty reply that senders of spreading trees wait for
  double delay_s{}; // time from when the ports are free until the data arrive

  // Returns the latency of every block of a stream but the first: as measured, but not above that
  // of the first; latency_s if it was not measured.
  [[nodiscard]] double further_block_s() const {
    return std::min(block_latency_s.value_or(latency_s), latency_s);
  }
};

// Factor factor[i] on the time of dense ring all-reduces on ranks[i] ranks (SPA 9); ranks ascend.
struct DenseInflation {
  std::vector<std::int64_t> ranks;
  std::vector<double> factor; // > 0
};

// Costs of compression besides the wire, named as in `compression.costs` of a scenario (SPA 8.2):
// seconds, per element or entry if the name says so.
inline constexpr std::array<std::string_view, 2> kSelectForms{"linear", "n_log_n"};
struct CompressionCosts {
  std::string method; // "any" = every method; values of a method override these
  std::string form;   // "" if the file gives none
  std::vector<std::pair<std::string, double>> values;
};

// Who moves the bytes between machines. tcp_cloud: TCP between rented virtual machines.
enum class Carrier { rdma, tcp, tcp_cloud };
inline constexpr auto kCarriers = base::words<Carrier>();

// The link between the GPUs of a machine.
enum class Bus { pcie, nvlink, xgmi };
inline constexpr auto kBuses = base::words<Bus>();

struct NetworkProfile {
  std::string name;
  ProfileLabel label = ProfileLabel::default_value;
  std::string note;
  std::string grade; // one of kGrades; "" if the file gives none
  // Empty if the file gives none.
  std::optional<double> latency_s, block_latency_s, bandwidth_Bps, reduction_Bps;
  std::optional<double> copy_bandwidth_Bps; // of tensors into and out of merged messages
  double delay_s{};                         // as in LinkClass
  bool fitted_rate = false;                 // bandwidth_Bps is what exchanges reached
  std::optional<Carrier> carrier;           // of a network between machines, if the file says it
  std::optional<Bus> bus;                   // of a network inside a machine, if the file says it
  std::vector<LinkClass> links;
  std::vector<CollectiveCurve> collectives;
  // The measured or fitted ranges, both ends included; empty if the file gives none.
  std::optional<std::pair<std::int64_t, std::int64_t>> valid_ranks;
  std::optional<std::pair<double, double>> valid_bytes;
  std::optional<std::pair<double, double>> valid_density;
  std::optional<std::int64_t> valid_gpus_per_node;
  DenseInflation dense_inflation; // empty = 1 everywhere
  std::vector<CompressionCosts> compression_costs;
  std::vector<std::string> warnings;

  // Returns the bandwidth of the link class `host`, between a GPU and the memory of its host; empty
  // if the file gives none.
  [[nodiscard]] std::optional<double> host_copy_Bps() const {
    for (const LinkClass& link : links) {
      if (link.name == "host" && link.per_byte_s > 0) {
        return 1 / link.per_byte_s;
      }
    }
    return std::nullopt;
  }
  // Returns the link of the values above, for profiles without link classes; numbers that the file
  // does not give are 0.
  [[nodiscard]] LinkClass any_link() const {
    return {.name = "network",
            .latency_s = latency_s.value_or(0),
            .per_byte_s = bandwidth_Bps.value_or(0) > 0 ? 1 / *bandwidth_Bps : 0,
            .block_latency_s = block_latency_s,
            .delay_s = delay_s};
  }
};

// A fabric as given in a file: hosts, switches and full-duplex links between them.
struct TopologyLink {
  // Names of the ends. Without an id in the file, `id` is "a-b", and "a-b#N" for further parallel
  // links, where N is the index of the link in the file.
  std::string id, a, b;
  double latency_s{};
  double bandwidth_Bps{};
  std::string source; // origin of the numbers; "" if the file gives none
};
struct Topology {
  std::string name;
  std::string preset; // "" = explicit graph
  std::vector<std::pair<std::string, double>> preset_parameters;
  std::vector<std::string> hosts, switches;
  std::vector<TopologyLink> links;
  std::vector<std::string> gpus; // hosts in rank order; empty = order of `hosts`
  std::vector<std::string> warnings;
};

} // namespace stepsim::links
