// Curves of different lengths are compared at the time at which the first of them ends; each also
// shows its own last loss.
#include "cli/text/answer_texts.hpp"

#include "cli/shell/unit_text.hpp"

namespace stepsim::cli {

namespace {

// The time at which the first of the curves ends [s]: until then all of them have a loss, and a
// comparison needs no extrapolation. Infinite if every curve failed.
double common_time(const Curves& found) {
  double time = HUGE_VAL;
  for (const NamedCurve& named : found.curves) {
    if (named.error.empty()) {
      time = std::min(time, named.curve.points.back().time_s);
    }
  }
  return time;
}

// At most eleven points at equal distances, the first and last among them.
std::string points_text(const study::Curve& curve) {
  Table table{{"iteration", "time [s]", "loss"}};
  constexpr std::size_t kShown = 10;
  const std::size_t last = curve.points.size() - 1;
  const std::size_t rows = std::min(last, kShown);
  for (std::size_t i = 0; i <= rows; ++i) {
    const std::size_t point = rows == 0 ? 0 : i * last / rows;
    table.rows.push_back(
        {std::to_string(point), cell(curve.points[point].time_s), cell(curve.points[point].loss)});
  }
  return table_text(table);
}

// The value of a varied field as a word, "-" where it is not varied.
std::string varied_word(const NamedCurve& named, std::string_view field) {
  const auto* found = base::found_if(named.varied, [&](const auto& each) {
    return each.first.ends_with(field) && each.second.is_string();
  });
  return found == nullptr ? "-" : found->second.as_string();
}

// Algorithm and compression have columns of their own, also where they are varied. A curve that
// failed has "-" in all others and its error in the last; one that left the range of numbers has
// fewer points than iterations. A single curve is followed by some of its points.
std::string table_of(const Curves& found, const study::CurveOptions& options) {
  using study::Curve;
  const double time = common_time(found);
  Table table;
  for (std::size_t a = 0; a < found.varied.size(); ++a) {
    if (found.varied[a] != "algorithm" && !found.varied[a].ends_with("method")) {
      add_column(table, column_unit(found.varied[a]).heading, found.curves,
                 [a](const NamedCurve& named) { return named.varied_cells[a]; });
    }
  }
  const auto add = [&](const std::string& heading, const auto& cell_of,
                       std::optional<std::string_view> field = {}) {
    add_column(table, heading, found.curves, [&](const NamedCurve& named) {
      return named.error.empty() ? std::invoke(cell_of, named.curve)
             : field             ? varied_word(named, *field)
                                 : std::string("-");
    });
  };
  add("algorithm", &Curve::algorithm, "algorithm");
  add("compression", &Curve::method, "method");
  add("workers", [](const Curve& curve) { return std::to_string(curve.workers); });
  add("iteration [ms]",
      [](const Curve& curve) { return milliseconds_cell(curve.iteration_time_s); });
  add("staleness", [](const Curve& curve) { return cell(curve.staleness_mean); });
  add("loss at " + base::readable_seconds(time),
      [&](const Curve& curve) { return cell(study::loss_at(curve, time)); });
  add("loss after " + std::to_string(options.iterations), [&](const Curve& curve) {
    const bool complete = static_cast<std::int64_t>(curve.points.size()) == options.iterations + 1;
    return complete ? cell(curve.points.back().loss) : "out of range";
  });
  if (options.target_loss) {
    const std::string target = base::shortest(*options.target_loss);
    add("iterations to " + target, [](const Curve& curve) {
      return curve.iterations_to_target ? std::to_string(*curve.iterations_to_target) : "-";
    });
    add("time to " + target + " [s]",
        [](const Curve& curve) { return cell(curve.time_to_target_s); });
  }
  add_column(table, "", found.curves, [](const NamedCurve& named) {
    return named.error.empty() ? "" : "error: " + named.error;
  });
  std::string text = std::string(study::kStandInNote) + "\n\n" + table_text(table);
  if (found.curves.size() == 1) {
    text += "\n" + points_text(found.curves.front().curve);
  }
  return text;
}

// The varied fields behind the keys of `tree`, of which "algorithm" says more than the field of
// that name.
io::Json with_varied(io::Json tree, const NamedCurve& named) {
  for (const auto& [key, value] : named.varied) {
    if (tree.find(key) == nullptr) {
      tree.set(key, value);
    }
  }
  return tree;
}

// A curve that failed has its error and its varied fields, so that a reader of JSON Lines can place
// it.
io::Json tree_of(const NamedCurve& named, const study::CurveOptions& options) {
  return with_varied(named.error.empty() ? study::curve_tree(named.curve, options)
                                         : io::Json(io::Object{{"error", named.error}}),
                     named);
}

// One row per point. Varied fields follow unless a column has their name already. A curve that
// failed has no points and so no row.
io::Array point_records(const Curves& found) {
  io::Array records;
  for (const NamedCurve& named : found.curves) {
    for (std::size_t i = 0; i < named.curve.points.size(); ++i) {
      records.push_back(with_varied(io::Object{{"algorithm", named.curve.algorithm},
                                               {"compression", named.curve.method},
                                               {"iteration", static_cast<std::int64_t>(i)},
                                               {"time_s", named.curve.points[i].time_s},
                                               {"loss", named.curve.points[i].loss}},
                                    named));
    }
  }
  return records;
}

} // namespace

// A curve that never reaches the target counts as infinitely late, so that those are compared by
// their loss. The sort is stable: equal curves stay in the order of the grid.
void sort_best_first(Curves& found) {
  const double time = common_time(found);
  std::ranges::stable_sort(found.curves, [&](const NamedCurve& a, const NamedCurve& b) {
    if (!a.error.empty() || !b.error.empty()) {
      return a.error.empty() && !b.error.empty();
    }
    const double of_a = a.curve.time_to_target_s.value_or(HUGE_VAL);
    const double of_b = b.curve.time_to_target_s.value_or(HUGE_VAL);
    return of_a != of_b ? of_a < of_b
                        : study::loss_at(a.curve, time) < study::loss_at(b.curve, time);
  });
}

// JSON of a single curve is the curve itself, without a list around it.
Document curves_document(const Curves& found, const study::CurveOptions& options) {
  const auto trees = [&] {
    return base::collected<io::Json>(
        found.curves, [&](const NamedCurve& named) { return tree_of(named, options); });
  };
  std::vector<std::string> warnings;
  for (const NamedCurve& named : found.curves) {
    study::append_each_once(warnings, named.curve.warnings);
  }
  return {.text = [&] { return table_of(found, options); },
          .tree =
              [&found, trees, warnings] {
                io::Json tree = found.varied.empty()
                                    ? io::Json(trees().front())
                                    : io::Object{{"problem", "logistic"},
                                                 {"note", std::string(study::kStandInNote)},
                                                 {"curves", trees()}};
                tree.set("warnings", io::Array(warnings.begin(), warnings.end()));
                return tree;
              },
          .records = [&] { return point_records(found); },
          .lines = trees,
          .warnings = warnings};
}

} // namespace stepsim::cli
