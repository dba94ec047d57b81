#pragma once
// Makes a figure from rows: chooses axes, curves and marks.

#include "cli/shell/document.hpp"
#include "document/fields/schema.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

// Records of a file as flat rows, read from JSON Lines, JSON or CSV: the output of `stepsim sweep`,
// `collective`, `compare`, `tune` and `solve`, and of tools that import measurements.

struct PlotRows {
  io::Json header; // header record of a sweep; null if there is none
  // Flat, each with the line of the file that it comes from: nested keys joined by "_", lists left
  // out. Without header records, failed points, and the sums and crossovers of `stepsim
  // collective`.
  io::Array rows;
  std::int64_t failed = 0; // points with an error
  std::string name; // name of the scenario in the header, and what varies; "" without a header
  std::vector<std::string> varied; // columns of the axes in the header
  std::string best_by;             // criterion of a comparison; "" where the file has none
  std::vector<std::string> said;   // notes and warnings of a comparison
};

// Reads the text of the file `path`, which is named in errors. JSON may be a list of records, an
// object with one of the lists rows, curve and points, or one record. Throws InputError for
// anything else, and for a record of a sweep that lacks the value of an axis.
[[nodiscard]] PlotRows read_plot_rows(const std::string& text, const std::string& path);

// The value of a key; null if the row has no such key.
[[nodiscard]] io::Json cell_of(const io::Json& row, std::string_view key);

using KeyValue = std::pair<std::string, std::string>;

// Whether the cell of the key has the value, as text or as a quantity ("25Gbps") up to rounding.
[[nodiscard]] bool matches(const io::Json& row, const KeyValue& wanted);
[[nodiscard]] bool matches_all(const io::Json& row, std::span<const KeyValue> wanted);

struct PlotRequest {
  std::string x, y, by;        // keys of the rows; by "" = one curve
  std::vector<KeyValue> where; // only rows with these values
  // The 5th to 95th percentile of y at every x, over the rows with this value, is a band around the
  // first curve; with `by`, only rows of this curve count. `where` applies to them
  // but for the key of the band; it must leave these rows out of the curves.
  std::optional<KeyValue> band;
  std::vector<KeyValue> labels; // labels of curves, [value of `by`]
  // Whether to draw the line of ideal scaling from one worker, and to mark the knee of the first
  // curve of each panel. Without `band`, a panel of one curve shows the intervals of its records.
  bool ideal{}, knee{};
  std::optional<plot::Scale> x_scale, y_scale;              // empty: chosen from the values
  std::string title, setting, x_title, y_title, band_label; // "" = made from the keys
};

// The rows of the curves of a figure, by x. The members take a curve of curves(), with its label
// and in the units of the records.
class CurveRows {
public:
  CurveRows(const PlotRows& rows, const PlotRequest& request) : rows_(rows), request_(request) {}

  // A curve per value of `by`, in the order in which the values appear.
  [[nodiscard]] std::vector<plot::Curve> curves();
  // Every worker at the pace of one worker alone, which the scaling efficiency of a record tells;
  // where records have none, at the pace of the first point: a constant time or share, else in
  // proportion to x.
  [[nodiscard]] plot::Guide ideal(const plot::Curve& curve) const;
  // The point at the knee of the throughput: of the samples per second of the records, else of
  // their speed-up, else of what y tells of it. Throws UsageError where there is none.
  [[nodiscard]] plot::Point knee(const plot::Curve& curve) const;
  // The interval of y at the points whose records have one. That of the samples per second follows
  // from the interval of the step.
  [[nodiscard]] plot::Band interval(const plot::Curve& curve) const;
  // The band of the request, of the records with this value of `by`.
  [[nodiscard]] plot::Band band(const std::string& by) const;

private:
  [[nodiscard]] const io::Json& row_at(const plot::Curve& curve, const plot::Point& point) const;
  // Names what tells the two rows apart: an axis of the sweep, else a word.
  [[noreturn]] void refuse_shared(const io::Json& a, const io::Json& b) const;

  const PlotRows& rows_;
  const PlotRequest& request_;
  std::map<std::string, std::map<double, const io::Json*>> at_x_; // [curve][x]
};

struct RowsFigure {
  plot::Figure figure;
  // Knee of each curve in the order of panels, in the units of the axes; empty without --knee.
  std::vector<std::optional<plot::Point>> knees;
};

// If the values of x are texts, the figure has bars. More than five curves become small panels with
// shared axes. Throws InputError if no row is left, and UsageError for a key that no row has, for
// more than 12 curves (bars: 5), for two rows of a curve with the same x, and for a knee without
// the smallest x and its double, or of a y that tells no throughput.
[[nodiscard]] RowsFigure rows_figure(const PlotRows& rows, const PlotRequest& request,
                                     const std::string& file);

// The numbers of a figure of records, in the units of its axes: the output of `plot --json`.

[[nodiscard]] io::Json plot_facts(const RowsFigure& drawn);
[[nodiscard]] io::FileKind plot_result_kind(); // the kind of file with these numbers

// How curves of a figure look: the scale of an axis, the look of each curve, and lines that several
// curves share.

// log2 for powers of two on x, log10 where the greatest value is 50 times the least, else linear.
[[nodiscard]] plot::Scale scale_for(const std::set<double>& values, bool of_x);

// Adds a line, unless one with the same points is there: curves whose workers are alike share one.
void add_guide(std::vector<plot::Guide>& guides, plot::Guide guide);

// Gives every curve its rank. Schedules, which the labels still name, keep their look in all
// figures, whatever else is drawn; others take the looks that are left, in their order.
void choose_looks(std::vector<plot::Curve>& curves);

// The axis for a key of a record: makespan_s becomes "makespan" in a suitable unit of time,
// busbw_Bps "busbw" in GB/s, scaling_efficiency a percentage.

// Title and unit of the axis, and the factor from a value in the file to the unit of the axis.
struct KeyAxis {
  plot::Axis axis;
  double factor = 1;
};
// `greatest`: the largest value to show; a time is shown in s, ms or us depending on it.
[[nodiscard]] KeyAxis key_axis(std::string_view key, double greatest);

// A value of the key with its unit, "10 Gb/s", or "nodes 8" where it has none.
[[nodiscard]] std::string with_unit(std::string_view key, double value);

// Whether the key is a fraction, shown in percent.
[[nodiscard]] bool is_share(std::string_view key);

} // namespace stepsim::cli
