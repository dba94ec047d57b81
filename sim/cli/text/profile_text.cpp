// Latencies are in microseconds and rates in GB/s (1e9 bytes), as data sheets have them.
#include "cli/text/topology_text.hpp"

#include <cmath>

#include "base/printable.hpp"
#include "cli/shell/document.hpp"

namespace stepsim::cli {

namespace {

// GB/s from seconds per byte; "-" where a link class has no rate.
std::string per_byte_text(double per_byte_s) {
  return per_byte_s > 0 ? base::significant(1e-9 / per_byte_s) : "-";
}

// "4..32", or one number where both ends are equal.
std::string range_text(double low, double high) {
  return base::shortest(low) + (low == high ? "" : ".." + base::shortest(high));
}

// What `valid` says, in words; "" for a profile without limits. Outside of them a curve is a guess.
std::string valid_text(const links::NetworkProfile& profile) {
  std::vector<std::string> parts;
  if (const auto& ranks = profile.valid_ranks) {
    parts.push_back("ranks " + range_text(static_cast<double>(ranks->first),
                                          static_cast<double>(ranks->second)));
  }
  if (const auto& bytes = profile.valid_bytes) {
    parts.push_back(base::readable_bytes(bytes->first) + " to " +
                    base::readable_bytes(bytes->second));
  }
  if (const auto& density = profile.valid_density) {
    parts.push_back("density " + range_text(density->first, density->second));
  }
  if (profile.valid_gpus_per_node) {
    parts.push_back("GPUs per node " + std::to_string(*profile.valid_gpus_per_node));
  }
  return parts.empty() ? "" : "valid for " + base::listed(parts) + "\n";
}

// How much longer dense all-reduces of a training take than measured alone, by ranks, and the costs
// of compressing by method.
std::string training_text(const links::NetworkProfile& profile) {
  std::string out;
  Table inflation{{"ranks", "dense all-reduce takes"}, {}};
  for (std::size_t i = 0; i < profile.dense_inflation.ranks.size(); ++i) {
    inflation.rows.push_back({std::to_string(profile.dense_inflation.ranks[i]),
                              base::shortest(profile.dense_inflation.factor[i]) + " times"});
  }
  out += inflation.rows.empty() ? "" : "\n" + table_text(inflation);
  Table costs{{"compression", "cost", "value"}, {}};
  for (const links::CompressionCosts& each : profile.compression_costs) {
    if (!each.form.empty()) {
      costs.rows.push_back({each.method, "form", each.form});
    }
    for (const auto& [key, value] : each.values) {
      costs.rows.push_back({each.method, key, base::shortest(value)});
    }
  }
  return out + (costs.rows.empty() ? "" : "\n" + table_text(costs));
}

// A bound of a segment; "-" where it is open, which is 0 below and infinite above.
std::string end_text(double bytes) {
  return bytes > 0 && std::isfinite(bytes) ? base::readable_bytes(bytes) : "-";
}

} // namespace

// A profile in blocks: name, note and validity, links, curves, what training adds, warnings. Blocks
// that a profile does not have leave no heading behind.
std::string profile_text(const links::NetworkProfile& profile) {
  std::string out = base::printable(profile.name) + ": " +
                    std::string(links::kProfileLabels[profile.label]) + " network profile" +
                    (profile.grade.empty() ? "" : ", grade " + base::printable(profile.grade)) +
                    "\n";
  out += profile.note.empty() ? "" : base::printable(profile.note) + "\n";
  out += valid_text(profile);
  Table links{{"link", "latency [us]", "bandwidth [GB/s]"}, {}};
  if (profile.latency_s || profile.bandwidth_Bps) {
    links.rows.push_back(
        {"network", profile.latency_s ? base::significant(*profile.latency_s * 1e6) : "-",
         profile.bandwidth_Bps ? base::significant(*profile.bandwidth_Bps / 1e9) : "-"});
  }
  for (const links::LinkClass& link : profile.links) {
    links.rows.push_back(
        {link.name, base::significant(link.latency_s * 1e6), per_byte_text(link.per_byte_s)});
  }
  out += links.rows.empty() ? "" : "\n" + table_text(links);
  if (profile.reduction_Bps && *profile.reduction_Bps > 0) {
    out += "adding at " + base::readable_rate(*profile.reduction_Bps) + "\n";
  }
  Table curves{{"operation", "algorithm", "ranks", "from", "to", "start-up [us]", "per byte [ns]"},
               {}};
  std::string measured;
  for (const links::CollectiveCurve& curve : profile.collectives) {
    const bool is_queued = curve.start_up == links::StartUp::queue;
    const std::string algorithm = curve.algorithm + (is_queued ? ", queued" : "");
    if (!curve.points.empty()) { // its segments are no numbers of the file
      measured += base::printable(curve.op + " " + algorithm) +
                  " P=" + std::to_string(curve.ranks) + ": " + std::to_string(curve.points.size()) +
                  " points from " + end_text(curve.points.front().bytes) + " to " +
                  end_text(curve.points.back().bytes) + ", straight lines between them\n";
      continue;
    }
    for (const links::CurveSegment& segment : curve.segments) {
      curves.rows.push_back({curve.op, algorithm, std::to_string(curve.ranks),
                             end_text(segment.from_bytes), end_text(segment.to_bytes),
                             base::significant(segment.startup_s * 1e6),
                             base::significant(segment.per_byte_s * 1e9)});
    }
  }
  out += curves.rows.empty() ? "" : "\n" + table_text(curves);
  out += measured.empty() ? "" : "\n" + measured;
  out += training_text(profile);
  for (const std::string& warning : profile.warnings) {
    out += "warning: " + base::printable(warning) + "\n";
  }
  return out;
}

} // namespace stepsim::cli
