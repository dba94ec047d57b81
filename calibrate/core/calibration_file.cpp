// A file has the same keys whether they were measured or not: what is unknown is null. A value that
// a fit holds at 0 is named in `at_bound`, because it is no measurement of 0.
#include "calibrate/core/calibration_file.hpp"

#include <cmath>

#include "base/collected.hpp"
#include "collectives/collective.hpp"
#include "document/fields/members.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate {

namespace {

constexpr double kGoodLink = 0.10;

// A number, or {value, low, high}.
io::Json estimate(double value, const std::optional<base::Interval>& interval) {
  if (!interval) {
    return value;
  }
  return io::Object{{"value", value}, {"low", interval->low}, {"high", interval->high}};
}

// Names of the values that a fit holds at 0 because the data want less: no measurements of 0.
using NamedValue = std::pair<std::string_view, double>;
std::vector<std::string> held_at_bound(std::initializer_list<NamedValue> values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    if (value == 0) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::vector<std::string> held_at_bound(const links::CurveSegment& segment) {
  return held_at_bound({{"startup_s", segment.startup_s}, {"per_byte_s", segment.per_byte_s}});
}

// A value of 0 is named in `at_bound` of its segment.
io::Array segments_tree(std::span<const links::CurveSegment> curve) {
  return io::write_each(curve, [](const links::CurveSegment& segment) {
    io::Json tree(io::Object{{"from_bytes", segment.from_bytes},
                             {"to_bytes", segment.to_bytes},
                             {"startup_s", segment.startup_s},
                             {"per_byte_s", segment.per_byte_s}});
    io::set_given(tree, "at_bound", held_at_bound(segment));
    return tree;
  });
}

// Several files of one format keep it, else it is "mixed".
io::Json source_tree(std::span<const io::Samples> files, const CalibrationText& text) {
  layers::Source source = files.front().source;
  for (const io::Samples& file : files.subspan(1)) {
    source.format = source.format == file.source.format ? source.format : "mixed";
    source.files.insert(source.files.end(), file.source.files.begin(), file.source.files.end());
  }
  source.importer = text.importer;
  return io::to_json(source);
}

// Keys that only GPU measurements fill are null here.
io::Json device_of(std::span<const GroupFit> fits) {
  std::int64_t count = 0;
  std::string name;
  for (const GroupFit& fit : fits) {
    if (!fit.group.device.empty()) {
      name = name.empty() || name == fit.group.device ? fit.group.device : name;
      count = std::max(count, fit.group.ranks);
    }
  }
  return device_tree(name, count > 0 ? io::Json(count) : io::Json());
}

// The ranges of ranks and bytes that any of the fits covers; GPUs per node only where all agree.
io::Json valid_tree(std::span<const GroupFit> fits) {
  const auto ranks =
      base::collected<std::int64_t>(fits, [](const GroupFit& fit) { return fit.group.ranks; });
  const auto [low, high] = std::ranges::minmax(ranks);
  io::Json tree(io::Object{{"ranks", io::Array{low, high}}, {"bytes", bytes_tree(fits)}});
  const auto& gpus = fits.front().group.gpus_per_node;
  if (std::ranges::all_of(fits,
                          [&](const GroupFit& fit) { return fit.group.gpus_per_node == gpus; })) {
    io::set_given(tree, "gpus_per_node", gpus);
  }
  return tree;
}

// Warnings of the file: where it holds means instead of medians, and which algorithms are assumed.
std::string note_of(std::span<const io::Samples> files, const std::optional<LinkFit>& link,
                    const CalibrationText& text) {
  std::vector<std::string> parts;
  for (const io::Samples& file : files) {
    const std::string& format = file.source.format;
    const std::string part = format + ": times are means";
    if ((format == "nccl-tests" || format == "osu") &&
        std::ranges::find(parts, part) == parts.end()) {
      parts.push_back(part);
    }
  }
  if (link && !link->assumed.empty()) {
    parts.push_back(text.assume + " assumed for " + base::listed(link->assumed));
  }
  return base::listed(parts, {}, "; ");
}

// The network that a scenario uses, and the link with its intervals for people. What a fit of
// collectives cannot tell is null: the latency of further blocks, and how much both directions
// disturb each other.
void set_link(io::Json& tree, const LinkFit& link, const std::string& link_class) {
  const auto& [alpha, beta, gamma] = link.fit.values;
  if (link_class != "same-device") { // copies within one memory are no network
    tree.set("network", network_tree(alpha, 1 / beta, gamma > 0 ? 1 / gamma : 0));
  }
  io::Json of_class = link_tree(link_class, estimate(alpha, link.fit.intervals[0]),
                                estimate(beta, link.fit.intervals[1]));
  if (link.fit.identifiable[0]) {
    io::set_given(of_class, "at_bound", held_at_bound({{"latency_s", alpha}}));
  }
  tree.set("links", io::Array{std::move(of_class)});
}

} // namespace

io::Json calibration_head(const std::string& name, const std::string& note, io::Json source,
                          io::Json device, io::Json valid) {
  return io::Object{{"schema_version", 1},
                    {"kind", "network_calibration"},
                    {"name", name},
                    {"label", "measured"},
                    {"note", note},
                    {"source", std::move(source)},
                    {"device", std::move(device)},
                    {"valid", std::move(valid)},
                    {"compression_costs", io::Object{}},
                    {"kernels", io::Array{}}};
}

void set_end(io::Json& tree, const std::array<bool, 3>& identifiable, Grade grade,
             const std::vector<std::string>& warnings) {
  tree.set("identifiable", io::Object{{"latency", identifiable[0]},
                                      {"bandwidth", identifiable[1]},
                                      {"reduction", identifiable[2]}});
  tree.set("grade", links::kGrades[grade]);
  tree.set("warnings", io::list_of(warnings));
}

io::Json device_tree(const std::string& name, io::Json count, const std::string& driver,
                     std::optional<double> sm_clock_hz, io::Json p2p) {
  return io::Object{{"name", io::text_or_null(name)},
                    {"count", std::move(count)},
                    {"driver", io::text_or_null(driver)},
                    {"sm_clock_Hz", io::or_null(sm_clock_hz)},
                    {"p2p", std::move(p2p)}};
}

io::Json network_tree(double latency_s, double bandwidth_Bps, double reduction_Bps) {
  using Network = links::NetworkProfile;
  Network network;
  network.latency_s = latency_s;
  network.bandwidth_Bps = bandwidth_Bps;
  network.reduction_Bps = reduction_Bps;
  io::Json tree(io::Object{{"model", "alpha_beta"}});
  io::set_members<&Network::latency_s, &Network::bandwidth_Bps, &Network::reduction_Bps>(network,
                                                                                         tree);
  return tree;
}

io::Json link_tree(std::string_view link_class, io::Json latency_s, io::Json per_byte_s,
                   const std::optional<double>& exchange, const std::optional<double>& shift) {
  return io::Object{
      {"class", link_class},
      {"latency_s", std::move(latency_s)},
      {"per_byte_s", std::move(per_byte_s)},
      {"block_latency_s", io::Json()},
      {"duplex", io::Object{{"exchange", io::or_null(exchange)}, {"shift", io::or_null(shift)}}}};
}

// One latency, bandwidth and speed of adding for all groups whose time is a sum of counts. Empty
// where no group has counts or the data do not determine the bandwidth. Counts are linear in the
// three costs for every size or for none, so that the first size of a group decides. Start-ups in a
// queue overlap, so that their times are no such sums.
std::optional<LinkFit> fit_link(std::span<const GroupFit> fits, const std::string& assume) {
  LinkFit link;
  std::vector<JointRow> rows;
  for (const GroupFit& fit : fits) {
    const Group& group = fit.group;
    const bool known =
        group.op == "pingpong" || collectives::parse_algorithm(group.algorithm).has_value();
    const std::string& algorithm = known ? group.algorithm : assume;
    if (group.start_up == links::StartUp::queue ||
        !cost_counts(group.op, algorithm, group.ranks, group.points.front().bytes)) {
      continue;
    }
    for (const Datum& datum : group.data()) {
      rows.push_back({*cost_counts(group.op, algorithm, group.ranks, datum.bytes), datum.seconds});
      link.adds = link.adds || rows.back().counts[2] > 0;
    }
    link.used.push_back(group.text());
    if (!known) {
      link.assumed.push_back(group.text());
    }
  }
  if (rows.empty()) {
    return std::nullopt;
  }
  link.fit = fit_jointly(rows);
  if (!link.fit.identifiable[1] || link.fit.values[1] <= 0) {
    return std::nullopt;
  }
  return link;
}

std::vector<std::string> all_warnings(std::span<const io::Samples> files,
                                      std::span<const GroupFit> fits,
                                      const std::optional<LinkFit>& link) {
  std::vector<std::string> warnings;
  for (const io::Samples& file : files) {
    warnings.insert(warnings.end(), file.warnings.begin(), file.warnings.end());
  }
  for (const GroupFit& fit : fits) {
    warnings.insert(warnings.end(), fit.warnings.begin(), fit.warnings.end());
    const auto held = [](const links::CurveSegment& segment) { return segment.startup_s == 0; };
    if (fit.points.empty() && std::ranges::any_of(fit.curve, held)) {
      warnings.push_back(fit.group.text() +
                         ": the start-up is held at 0, its bound, because the data want less");
    }
  }
  if (link && !link->adds) {
    warnings.push_back("nothing is added in " + base::listed(link->used) +
                       ": the speed of adding is unknown; measure an all-reduce too");
  } else if (link && !link->fit.identifiable[2]) {
    warnings.push_back("the speed of adding cannot be told from " + base::listed(link->used) +
                       ": it is inside the bandwidth; add a broadcast, a point-to-point message or "
                       "a timed reduction");
  }
  if (link && link->fit.max_error >= kGoodLink) {
    warnings.push_back("one latency and one bandwidth for " + base::listed(link->used) +
                       ": off by up to " + base::percent(link->fit.max_error));
  }
  return warnings;
}

io::Array bytes_tree(std::span<const GroupFit> fits) {
  double least = fits.front().group.points.front().bytes;
  double most = least;
  for (const GroupFit& fit : fits) {
    least = std::min(least, fit.group.points.front().bytes);
    most = std::max(most, fit.group.points.back().bytes);
  }
  return {least, most};
}

io::Array points_tree(std::span<const links::CurvePoint> points) {
  return io::write_each(points, [](const links::CurvePoint& point) {
    return io::Array{point.bytes, point.seconds};
  });
}

// Residuals are part of the file, so that a fit can be judged without the samples.
io::Json collective_tree(const GroupFit& fit) {
  const Group& group = fit.group;
  const auto left_out = [&](double ErrorSpread::*part) {
    return io::or_null(part_of(fit.left_out, part));
  };
  io::Json tree(io::Object{
      {"op", group.op},
      {"algorithm", group.algorithm.empty() ? "library" : group.algorithm},
      {"ranks", group.ranks},
      {"residuals", io::write_each(fit.residuals,
                                   [](const Residual& row) {
                                     return io::Array{row.bytes, row.measured_s, row.fitted_s};
                                   })},
      {"fit", io::Object{{"bic", io::list_of(fit.bic)},
                         {"median_relative_error", fit.median_error},
                         {"max_relative_error", fit.max_error},
                         {"left_out_median_relative_error", left_out(&ErrorSpread::median)},
                         {"left_out_p90_relative_error", left_out(&ErrorSpread::p90)},
                         {"left_out_max_relative_error", left_out(&ErrorSpread::most)},
                         {"points", group.points.size()}}}});
  if (fit.points.empty()) {
    tree.set("segments", segments_tree(fit.curve));
  } else {
    tree.set("points", points_tree(fit.points));
  }
  io::set_given(tree, "column", group.column);
  io::set_given(tree, "dtype", group.dtype);
  if (group.start_up != links::StartUp::alone) {
    tree.set("start_up", links::kStartUps[group.start_up]);
  }
  return tree;
}

// The label is "calibrated" and not "measured" where an algorithm was assumed, because latency and
// bandwidth then depend on the assumption.
io::Json calibration_tree(std::span<const io::Samples> files, std::span<const GroupFit> fits,
                          const std::optional<LinkFit>& link, const CalibrationText& text) {
  io::Json tree = calibration_head(text.name, note_of(files, link, text), source_tree(files, text),
                                   device_of(fits), valid_tree(fits));
  if (link && !link->assumed.empty()) {
    tree.set("label", "calibrated");
  }
  std::array<bool, 3> identifiable{};
  if (link) {
    set_link(tree, *link, text.link_class);
    identifiable = link->fit.identifiable;
  }
  tree.set("collectives", io::write_each(fits, collective_tree));
  // A file is as good as its worst curve.
  const Grade worst = std::ranges::max_element(fits, {}, &GroupFit::grade)->grade;
  set_end(tree, identifiable, worst, all_warnings(files, fits, link));
  return tree;
}

} // namespace stepsim::calibrate
