#pragma once
// Network profiles and topologies as plain values; files/profile_file.hpp and
// files/topology_file.hpp read and write them. A profile (kind network_calibration) stands for
// latency, bandwidth, reduction rate and measured collective curves of a network; its label says
// how far to trust it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace stepsim::net {

enum class ProfileLabel { measured, calibrated, default_value };
inline constexpr auto kProfileLabels =
    base::words<ProfileLabel>({{ProfileLabel::measured, "measured"},
                               {ProfileLabel::calibrated, "calibrated"},
                               {ProfileLabel::default_value, "default"}});

// How well a fit describes what was measured, best first: ok below 10 % of error, warn below 25 %,
// else fail. Which error counts says group_fit.hpp of calibrate for curves, gpu_fit.hpp for
// kernels.
enum class Grade { ok, warn, fail };
inline constexpr auto kGrades =
    base::words<Grade>({{Grade::ok, "ok"}, {Grade::warn, "warn"}, {Grade::fail, "fail"}});

struct CurveSegment { // T(m) = startup_s + per_byte_s m, s, for from_bytes <= m <= to_bytes
  double from_bytes{};
  double to_bytes{}; // infinite where the source does not say
  double startup_s{}, per_byte_s{};
};

struct CurvePoint {
  double bytes{};   // > 0
  double seconds{}; // > 0
};

struct CollectiveCurve {
  std::string op;
  std::string algorithm;
  std::int64_t ranks{};
  std::vector<CurveSegment> segments;
  // Where the file gives points instead of segments: bytes ascend strictly, seconds do not fall.
  // The segments are then the lines from point to point (curve_through).
  std::vector<CurvePoint> points;
};

// Kinds of links that are calibrated on their own; same-device is a copy within one memory.
inline constexpr std::array<std::string_view, 5> kLinkClasses{"network", "nvlink", "pcie", "host",
                                                              "same-device"};
struct LinkClass {
  std::string name; // of kLinkClasses
  double latency_s{};
  double per_byte_s{};
  std::optional<double> block_latency_s; // of further blocks of a stream
  // Time per byte while every rank also receives, over that of one direction alone: from the rank
  // that it sends to, and from another one.
  std::optional<double> duplex_exchange, duplex_shift;
  std::optional<double> reply_s; // of an empty reply that senders of spreading trees wait for
  double delay_s{};              // after the ports are free
};

// Dense ring all-reduces take factor[i] times as long on ranks[i] ranks (SPA 9); ranks ascending.
struct DenseInflation {
  std::vector<std::int64_t> ranks;
  std::vector<double> factor; // > 0
};

// What compressing costs beside the wire, by the names of a scenario's `compression.costs` (SPA
// 8.2): seconds, per element or entry where the name says so.
inline constexpr std::array<std::string_view, 2> kSelectForms{"linear", "n_log_n"};
struct CompressionCosts {
  std::string method; // "any" = every method; a method's own values add to or override those
  std::string form;   // "" where the file gives none
  std::vector<std::pair<std::string, double>> values;
};

struct NetworkProfile {
  std::string name;
  ProfileLabel label = ProfileLabel::default_value;
  std::string note;
  std::string grade; // of kGrades, "" where the file gives none
  // Empty where the file gives none.
  std::optional<double> latency_s, bandwidth_Bps, reduction_Bps;
  double delay_s{};
  std::vector<LinkClass> links;
  std::vector<CollectiveCurve> collectives;
  // What was measured or fitted, both ends included; empty where the file does not say.
  std::optional<std::pair<std::int64_t, std::int64_t>> valid_ranks;
  std::optional<std::pair<double, double>> valid_bytes;
  std::optional<std::pair<double, double>> valid_density;
  std::optional<std::int64_t> valid_gpus_per_node;
  DenseInflation dense_inflation; // empty = 1 everywhere
  std::vector<CompressionCosts> compression_costs;
  std::vector<std::string> warnings;
};

// A fabric as a file gives it: hosts, switches and full-duplex links between them.
struct TopologyLink {
  // Names of the ends; `id` is "a-b" where the file gives none, "a-b#N" of further parallel links.
  std::string id, a, b;
  double latency_s{};
  double bandwidth_Bps{};
  std::string source; // where the numbers come from, "" where the file says nothing
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

} // namespace stepsim::net
