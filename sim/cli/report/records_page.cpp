// The figure shows one varied field on x and at most one more as curves; all others stay at the
// values of the best point, which its grey line names.
#include "cli/report/result_page.hpp"

#include "cli/shell/unit_text.hpp"
#include "cli/text/record_table.hpp"
#include "run/collective_file.hpp"

namespace stepsim::cli {

namespace {

// What the figure shows, the first that the records have.
constexpr std::array<std::string_view, 7> kShownFigures{
    "samples_per_s", "speedup",    "busbw_Bps", study::kIterationTime,
    "closed_form_s", "max_plus_s", "events_s"};

bool is_figure(std::string_view key) {
  constexpr std::array<std::string_view, 11> kOthers{
      "record",      "point", "status",      "method",         "error",  "ratio",
      "replication", "best",  "stated_rank", "not_told_apart", "assumes"};
  return std::ranges::find(kOthers, key) != kOthers.end() ||
         std::ranges::find(study::kSummaryFields, key, &study::SummaryField::key) !=
             study::kSummaryFields.end();
}

std::vector<io::Json> values_of(const PlotRows& rows, std::string_view key) {
  std::vector<io::Json> out;
  std::set<std::string> seen;
  for (const io::Json& row : rows.rows) {
    const io::Json value = cell_of(row, key);
    if (!value.is_null() && seen.insert(io::compact(value)).second) {
      out.push_back(value);
    }
  }
  return out;
}

// In the unit that fits.
std::string shown_value_of(std::string_view key, const io::Json& value) {
  return value.is_number() && !value.is_integer() ? value_text(key, value.as_double(), 4)
                                                  : plain_cell(value);
}

// One page in the making: which fields vary, which record is the best.
class Records {
public:
  Records(const PlotRows& rows, const std::string& file, const std::string& output)
      : rows_(rows), file_(file), output_(output) {
    if (rows.rows.empty()) {
      throw InputError(file, "", "no records to report");
    }
    if (rows.header.is_object()) {
      sweep_ = study::sweep_of_header(rows.header);
      const io::Json* files = rows.header.find("files");
      study::find_named_files(sweep_->base, files == nullptr ? io::Json() : *files, "");
      varied_ = sweep_->varied();
    } else {
      for (const auto& [key, value] : rows.rows.front().as_object()) {
        if (!is_figure(key) && values_of(rows, key).size() > 1) {
          varied_.push_back(key);
        }
      }
    }
    plain_ = rows_.rows.front().find(study::kIterationTime) == nullptr;
    batches_ = batches();
    if (!plain_) {
      ranking_ = study::rank_rows(rows_.rows, batches_, study::kBestBy.find(rows.best_by));
    }
    if (sweep_ && sweep_->grid.replications > 1) { // no draw is a choice
      ranking_.best.reset();
    }
    choose_fields();
  }

  RecordsPage page(const std::string& footer) {
    HtmlPage page(rows_.name.empty() ? file_ : rows_.name);
    page.paragraph(answer(), "answer");
    std::optional<plot::Point> knee;
    if (const std::optional<RowsFigure> drawn = figure()) {
      knee = drawn->knees.empty() ? std::nullopt : drawn->knees.front();
      page.figure(drawn->figure, "points");
    }
    add_pivot(page);
    add_points(page);
    if (!rows_.said.empty()) {
      page.heading("What was assumed");
      page.list(rows_.said);
    }
    add_scenario(page);
    page.paragraph(footer, "grey");
    return {std::move(page).finished(), report_facts(RecordsFacts{.answer = answer(),
                                                                  .points = std::ssize(rows_.rows),
                                                                  .failed = rows_.failed,
                                                                  .varied = varied_,
                                                                  .knee = knee})};
  }

private:
  [[nodiscard]] std::vector<std::int64_t> batches() const {
    std::vector<std::int64_t> out(rows_.rows.size(), 1);
    if (!sweep_ && !plain_) { // a comparison: micro-batches count where it varies them
      std::ranges::transform(rows_.rows, out.begin(), [](const io::Json& row) {
        return study::workers_of(row).value_or(1) *
               std::llround(study::number_in(row, "micro_batches").value_or(1));
      });
    }
    if (!sweep_ || study::is_collective(sweep_->base)) {
      return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const io::Json point = cell_of(rows_.rows[i], "point");
      if (point.is_integer() && point.as_integer() >= 0 &&
          point.as_integer() < sweep_->grid.points()) {
        out[i] = study::batches_of_row(*sweep_, rows_.rows[i]);
      }
    }
    return out;
  }

  [[nodiscard]] const io::Json& best() const { return rows_.rows[ranking_.best.value_or(0)]; }

  // x: nodes if they vary, else the number with the most values, else a word. By: another field
  // with two to twelve values that does not move together with x.
  void choose_fields() {
    std::size_t most = 0;
    for (const std::string& name : varied_) {
      const std::vector<io::Json> values = values_of(rows_, name);
      const bool numbers = std::ranges::all_of(values, &io::Json::is_number);
      const std::size_t weight = (name == "nodes" ? 1'000'000U : 0U) + (numbers ? 1000U : 0U) +
                                 std::min<std::size_t>(values.size(), 999);
      if (values.size() > 1 && weight > most) {
        most = weight;
        x_ = name;
      }
    }
    const auto shown = std::ranges::find_if(kShownFigures, [&](std::string_view key) {
      return std::ranges::any_of(
          rows_.rows, [&](const io::Json& row) { return cell_of(row, key).is_number(); });
    });
    y_ = shown == kShownFigures.end() ? "" : *shown;
    if (y_.empty()) {
      x_.clear();
    }
    constexpr std::size_t kMostCurves = 12;
    for (const std::string& name : varied_) {
      const std::size_t count = values_of(rows_, name).size();
      if (name != x_ && count > 1 && count <= kMostCurves && !moves_with_x(name)) {
        by_ = name;
      }
    }
  }

  // Whether rows of one x have one value of the field.
  [[nodiscard]] bool moves_with_x(const std::string& name) const {
    std::set<std::string> pairs;
    std::set<std::string> xs;
    for (const io::Json& row : rows_.rows) {
      const std::string x = io::compact(cell_of(row, x_));
      xs.insert(x);
      pairs.insert(x + " " + io::compact(cell_of(row, name)));
    }
    return pairs.size() == xs.size();
  }

  // The varied fields that the figure does not show, at the values of the best record.
  [[nodiscard]] std::vector<KeyValue> fixed() const {
    std::vector<KeyValue> out;
    std::vector<std::string> names = varied_;
    names.emplace_back("replication");
    for (const std::string& name : names) {
      const io::Json value = cell_of(best(), name);
      if (name != x_ && name != by_ && !value.is_null() && !moves_with_x(name)) {
        out.emplace_back(name, plain_cell(value));
      }
    }
    return out;
  }

  // Empty where nothing varies, or where the records are more than a figure shows.
  [[nodiscard]] std::optional<RowsFigure> figure() const {
    if (x_.empty()) {
      return std::nullopt;
    }
    PlotRequest request;
    request.x = x_;
    request.y = y_;
    request.by = by_;
    request.where = fixed();
    request.setting = base::listed(request.where, [&](const auto& each) {
      return each.first + " " + shown_value_of(each.first, cell_of(best(), each.first));
    });
    request.ideal = x_ == "nodes" && (y_ == "samples_per_s" || y_ == "speedup");
    for (const bool knee : {request.ideal, false}) { // not without doublings
      request.knee = knee;
      try {
        return rows_figure(rows_, request, file_);
      } catch (const UsageError&) {
        continue;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string answer() const {
    const std::string count =
        base::counted(static_cast<std::int64_t>(rows_.rows.size()), "point") +
        (rows_.failed > 0 ? ", " + std::to_string(rows_.failed) + " more failed" : "");
    if (!ranking_.best) {
      return count + ".";
    }
    std::string text = count + ". The best by " +
                       (ranking_.by == study::BestBy::iteration_time ? "iteration time"
                        : ranking_.by == study::BestBy::throughput   ? "throughput"
                                                                     : "efficiency") +
                       ":";
    for (const std::string& name : varied_) {
      text += " " + name + " " + shown_value_of(name, cell_of(best(), name)) + ",";
    }
    const io::Json step = cell_of(best(), study::kIterationTime);
    text += step.is_number()
                ? " a step of " + base::readable_seconds(step.as_double(), study::band_in(best()))
                : "";
    const io::Json rate = cell_of(best(), "samples_per_s");
    text += rate.is_number() ? ", " + base::significant(rate.as_double(), 4) + " samples/s" : "";
    return text + ".";
  }

  // The two fields of the figure against each other, with everything else as in the figure.
  void add_pivot(HtmlPage& page) const {
    if (plain_ || by_.empty()) {
      return;
    }
    std::vector<io::Json> rows;
    std::vector<std::int64_t> batches;
    const std::vector<KeyValue> others = fixed();
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
      const bool shown = std::ranges::all_of(others, [&](const KeyValue& each) {
        return plain_cell(cell_of(rows_.rows[i], each.first)) == each.second;
      });
      if (shown) {
        rows.push_back(rows_.rows[i]);
        batches.push_back(batches_[i]);
      }
    }
    const std::vector<std::string> varied{x_, by_};
    const study::Ranking ranking = study::rank_rows(rows, batches, ranking_.by);
    const std::vector<Table> all = record_tables({rows, varied, ranking, batches, {}});
    if (all.size() > 1) {
      page.heading(by_ + " by " + x_);
      page.table(all.front());
    }
  }

  void add_points(HtmlPage& page) const {
    const std::size_t listed = std::min(rows_.rows.size(), kMostListedPoints);
    page.open_details("All " + std::to_string(rows_.rows.size()) + " points");
    if (listed < rows_.rows.size()) {
      page.paragraph("The first " + std::to_string(listed) + "; the others are in " + file_ + ".");
    }
    const auto rows = std::span(rows_.rows).first(listed);
    if (!plain_) {
      study::Ranking ranking = ranking_;
      if (ranking.best >= listed) {
        ranking.best.reset();
      }
      const auto batches = std::span(batches_).first(listed);
      page.table(record_tables({rows, varied_, ranking, batches, {}}).back());
    } else {
      page.table(plain_table(rows));
    }
    page.close_details();
  }

  // Varied fields, and times and bandwidths of collectives.
  [[nodiscard]] Table plain_table(std::span<const io::Json> rows) const {
    std::vector<std::string> keys = varied_;
    for (const char* key : {"closed_form_s", "max_plus_s", "events_s", "algbw_Bps", "busbw_Bps"}) {
      if (!values_of(rows_, key).empty()) {
        keys.emplace_back(key);
      }
    }
    Table table;
    for (const std::string& key : keys) {
      add_value_column(table, key, base::collected<io::Json>(rows, [&](const io::Json& row) {
                         const io::Json* value = row.find(key);
                         return value == nullptr ? io::Json() : *value;
                       }));
    }
    return table;
  }

  void add_scenario(HtmlPage& page) const {
    if (!sweep_) {
      return;
    }
    const io::Json base = study::with_names_relative_to(sweep_->base, output_);
    page.heading(study::is_collective(sweep_->base) ? "The collective" : "The scenario");
    page.paragraph("Every point starts from it; stepsim run --point N " + file_ +
                       " runs one point again.",
                   "grey");
    page.download("scenario.json", "scenario.json", io::compact(base));
    page.open_details("As JSON");
    page.text(io::pretty(base));
    page.close_details();
  }

  const PlotRows& rows_;
  const std::string& file_;
  const std::string& output_;
  std::optional<study::Sweep> sweep_;
  std::vector<std::string> varied_;
  bool plain_ = false;                // records without an iteration time
  std::vector<std::int64_t> batches_; // [row]
  study::Ranking ranking_;
  std::string x_, y_, by_;
};

} // namespace

RecordsPage records_page(const PlotRows& rows, const std::string& file, const std::string& output,
                         const std::string& footer) {
  return Records(rows, file, output).page(footer);
}

} // namespace stepsim::cli
