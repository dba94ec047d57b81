// Errors are those of the physical model, without the correction by residuals, which would hide at
// measured points what the model cannot say.
#include "calibrate/program/fit_parts.hpp"

#include "cli/shell/document.hpp"
#include "document/fields/written.hpp"
#include "nccl/published_constants.hpp"
#include "scenario/files/network_files.hpp"

namespace stepsim::calibrate {

using nccl::error_numbers;
using nccl::MeasuredPoint;
using nccl::Parameter;

namespace {

constexpr double kClearlyBetter = 1.2;
constexpr double kMebibyte = 1024.0 * 1024;

struct SizeClass {
  std::string_view name;
  double below;
};
constexpr std::array kSizeClasses{
    SizeClass{"below 64 KiB", 65536}, SizeClass{"64 KiB to 1 MiB", kMebibyte},
    SizeClass{"1 to 32 MiB", 32 * kMebibyte}, SizeClass{"32 MiB and more", HUGE_VAL}};

// A parameter in the unit in which people know it: its noun, and the published constant, of the
// library or, in bytes/s, of a node type.
struct Physical {
  Parameter parameter;
  std::string_view noun, unit;
  double constant;
  double nccl::NodeType::*of_node = nullptr;
};
constexpr std::array kPhysical{
    Physical{Parameter::bw_nic, "network card", "GB/s", 0, &nccl::NodeType::nic_Bps},
    Physical{Parameter::bw_nvl, "ring inside a node", "GB/s", 0, &nccl::NodeType::ring_Bps},
    Physical{Parameter::net_simple, "Simple network hop", "us", nccl::kHopNetwork.ring[2]},
    Physical{Parameter::net_ll, "LL network hop", "us", nccl::kHopNetwork.ring[0]},
    Physical{Parameter::in_simple, "Simple hop inside a node", "us", nccl::kHopNvlink.ring[2]},
    Physical{Parameter::nvls_lat, "start-up of NVLS", "us", nccl::kHopNvls},
    Physical{Parameter::floor, "shortest operation", "us", nccl::kLaunch}};

std::string physical_text(const LibraryFit& fit, const nccl::Calibration& calibration) {
  std::string out;
  for (const Physical& each : kPhysical) {
    const auto i = static_cast<std::size_t>(each.parameter);
    const double published =
        each.of_node != nullptr ? fit.fitted.node.*each.of_node / 1e9 : each.constant;
    const base::Interval interval = io::parameter_interval(calibration, each.parameter);
    out.append(each.noun).append(" ");
    out += base::significant(published * calibration.multipliers[each.parameter], 3) + " ";
    out.append(each.unit);
    out += " (" + base::significant(published * interval.low, 3) + " .. " +
           base::significant(published * interval.high, 3) + ")" +
           (fit.from_prior[i] ? ", from the prior" : "") + "\n";
  }
  if (fit.fitted.node.in_switch_reduction) {
    const double rate =
        fit.fitted.node.ring_Bps *
        nccl::kNvlsEfficiency[static_cast<std::size_t>(fit.fitted.node.generation)] *
        calibration.multipliers[Parameter::bw_nvl] * calibration.multipliers[Parameter::nvls];
    out += "NVLS rate " + base::significant(rate / 1e9, 3) + " GB/s\n";
  }
  return out;
}

std::string parameter_table(const LibraryFit& fit, const nccl::Calibration& calibration) {
  cli::Table table{{"parameter", "value", "low", "high", "default", "from", "acts on"}, {}};
  for (std::size_t i = 0; i < nccl::kParameterCount; ++i) {
    const nccl::ParameterRow& row = nccl::parameter_rows()[i];
    const base::Interval interval = io::parameter_interval(calibration, row.parameter);
    table.rows.push_back({std::string(nccl::kParameters[row.parameter]),
                          base::significant(calibration.multipliers.value[i]),
                          base::significant(interval.low), base::significant(interval.high),
                          base::significant(nccl::factor(row.parameter, row.prior_mean)),
                          fit.from_prior[i] ? "prior" : "data", std::string(row.sentence)});
  }
  return cli::table_text(table);
}

std::string lines_text(const std::string& heading, const std::vector<LibraryReport::Line>& lines) {
  cli::Table table{{heading, "points", "median", "p90", "largest", "sign"}, {}};
  for (const LibraryReport::Line& line : lines) {
    const ErrorNumbers& numbers = line.numbers;
    table.rows.push_back({line.name, std::to_string(numbers.points), base::percent(numbers.median),
                          base::percent(numbers.p90), base::percent(numbers.largest),
                          base::significant(numbers.sign, 2)});
  }
  return lines.empty() ? "" : "\n" + cli::table_text(table);
}

std::string pair_text(nccl::Pair pair) {
  return std::string(nccl::kAlgorithms[pair.algorithm]) + "/" +
         std::string(nccl::kProtocols[pair.protocol]);
}

std::string point_text(const MeasuredPoint& point) {
  return std::string(nccl::kOperations[point.operation]) + " " + nccl::text(point.shape) + " " +
         base::readable_bytes(point.bytes);
}

// Signed errors of the physical model, in the order of the points.
std::vector<double> physical_errors(const LibraryFit& fit, const nccl::Multipliers& multipliers) {
  const nccl::FitPoints points(fit.fitted.node, fit.fitted.points, fit.fitted.choice,
                               {.version = fit.fitted.version});
  std::vector<double> errors;
  for (std::size_t i = 0; i < points.size(); ++i) {
    errors.push_back(points.seconds(i, multipliers) / points.measured_s(i) - 1);
  }
  return errors;
}

std::vector<LibraryReport::Disagreement> disagreements_of(const LibraryFit& fit,
                                                          const nccl::Multipliers& multipliers) {
  nccl::LibraryModel model;
  model.multipliers = multipliers;
  model.choice = fit.fitted.choice;
  model.restrictions.version = fit.fitted.version;
  std::vector<LibraryReport::Disagreement> result;
  for (const MeasuredPoint& point : fit.fitted.points) {
    const nccl::Layout layout = nccl::layout_of(fit.fitted.node, point.shape);
    const auto misfit = [&](nccl::Pair pair) {
      const double seconds =
          nccl::operation_time(layout, point.operation, point.bytes, pair, multipliers).seconds;
      return std::abs(std::log(seconds / point.measured_s));
    };
    const nccl::Pair chosen = nccl::choose_pair(model, layout, point.operation, point.bytes).chosen;
    const nccl::Candidates offered = nccl::candidates(layout, point.operation, model.restrictions);
    const nccl::Pair likely = *std::ranges::min_element(offered.all(), {}, misfit);
    if (misfit(chosen) - misfit(likely) > std::log(kClearlyBetter)) {
      result.push_back({point, chosen, likely});
    }
  }
  return result;
}

io::Json lines_json(const std::vector<LibraryReport::Line>& lines) {
  return io::write_each(lines, [](const LibraryReport::Line& line) {
    return io::Object{{"name", line.name},
                      {"points", line.numbers.points},
                      {"median_abs_error", line.numbers.median},
                      {"p90_abs_error", line.numbers.p90},
                      {"max_abs_error", line.numbers.largest},
                      {"sign", line.numbers.sign}};
  });
}

} // namespace

LibraryReport report_library(const LibraryFit& fit, const nccl::Calibration& calibration) {
  LibraryReport report;
  const std::vector<double> errors = physical_errors(fit, calibration.multipliers);
  std::vector<std::vector<double>> by_size(kSizeClasses.size());
  std::vector<double> group;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const MeasuredPoint& point = fit.fitted.points[i];
    const auto size = std::ranges::find_if(
        kSizeClasses, [&](const SizeClass& each) { return point.bytes < each.below; });
    by_size[static_cast<std::size_t>(size - kSizeClasses.begin())].push_back(errors[i]);
    group.push_back(errors[i]);
    const bool last = i + 1 == errors.size() ||
                      fit.fitted.points[i + 1].operation != point.operation ||
                      fit.fitted.points[i + 1].shape != point.shape;
    if (last) {
      report.residuals.push_back(
          {std::string(nccl::kOperations[point.operation]) + " " + nccl::text(point.shape),
           error_numbers(group)});
      group.clear();
    }
  }
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    if (!by_size[i].empty()) {
      report.sizes.push_back({std::string(kSizeClasses[i].name), error_numbers(by_size[i])});
    }
  }
  const std::vector<nccl::HeldOut> shapes = nccl::leave_shapes_out(fit);
  for (const nccl::HeldOut& held : shapes) {
    report.held_out.push_back({nccl::text(held.shape), error_numbers(held.physical)});
  }
  const std::vector<double> pooled = nccl::left_out_errors(fit, shapes);
  if (!pooled.empty()) {
    report.pooled = error_numbers(pooled);
    report.held_out.push_back(
        {report.held_out.empty() ? "every second size" : "all shapes", report.pooled});
  }
  report.disagreements = disagreements_of(fit, calibration.multipliers);
  return report;
}

std::string library_text(const LibraryFit& fit, const nccl::Calibration& calibration,
                         const LibraryReport& report) {
  std::string out = physical_text(fit, calibration) + "\n" + parameter_table(fit, calibration);
  out += "\nchoice: " + std::string(nccl::kChoices[fit.fitted.choice]) + "\n";
  out += lines_text("residuals", report.residuals) + lines_text("size", report.sizes) +
         lines_text("left out", report.held_out);
  for (const LibraryReport::Disagreement& each : report.disagreements) {
    out += point_text(each.point) + ": the library probably used " + pair_text(each.likely) +
           " and not " + pair_text(each.chosen) + "\n";
  }
  return out;
}

io::Json report_json(const LibraryReport& report) {
  const auto disagreement = [](const LibraryReport::Disagreement& each) {
    return io::Object{{"op", nccl::kOperations[each.point.operation]},
                      {"nodes", each.point.shape.nodes},
                      {"gpus_per_node", each.point.shape.gpus},
                      {"bytes", each.point.bytes},
                      {"chosen", pair_text(each.chosen)},
                      {"likely", pair_text(each.likely)}};
  };
  return io::Object{{"residuals", lines_json(report.residuals)},
                    {"sizes", lines_json(report.sizes)},
                    {"held_out", lines_json(report.held_out)},
                    {"disagreements", io::write_each(report.disagreements, disagreement)}};
}

} // namespace stepsim::calibrate
