// The file is read once, line by line, because the output of a sweep can be larger than memory.
// What a line may be follows from the lines before it: the header, the names of the columns (CSV),
// then records in ascending order of their points. After 20 errors the rest is not read.
#include "cli/commands/check_lines.hpp"

#include "document/file.hpp"
#include "document/json_text.hpp"
#include "import/import_detect.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::cli {

namespace {

// The lines of a broken file tend to be wrong in the same way: twenty show it.
constexpr std::size_t kMostErrors = 20;

// Lines of a file that may be long, one at a time. Bytes come in pieces, so that a line may begin
// in one and end in a later one; the search goes on behind what was searched before. The last line
// may lack its end.
class Lines {
public:
  explicit Lines(const std::string& name) : source_(name) {}

  bool next(std::string& line) {
    std::size_t end = buffer_.find('\n', begin_);
    while (end == std::string::npos) {
      buffer_.erase(0, begin_);
      begin_ = 0;
      const std::size_t before = buffer_.size();
      const std::string_view more = source_.next();
      if (more.empty()) {
        line = std::exchange(buffer_, std::string());
        return !line.empty();
      }
      buffer_ += more;
      end = buffer_.find('\n', before);
    }
    line.assign(buffer_, begin_, end - begin_);
    begin_ = end + 1;
    return true;
  }

private:
  io::ByteSource source_;
  std::string buffer_;
  std::size_t begin_ = 0;
};

// Counts records and keeps what the header promised; everything else of a line is forgotten.
class LinesChecker {
public:
  explicit LinesChecker(const std::string& name) : name_(name) { result_.file = name; }

  Checked check() {
    Lines lines(name_);
    std::string line;
    std::string more;
    for (number_ = 1; result_.errors.size() < kMostErrors && lines.next(line); ++number_) {
      if (number_ == 1 && study::is_sweep_output(line)) {
        sweep_header(line);
      } else if (csv_) {
        while (std::ranges::count(line, '"') % 2 != 0 && lines.next(more)) { // inside of a cell
          line.append("\n").append(more);
          ++number_;
        }
        if (number_ > 2) { // behind the names of the columns
          point(study::record_mark(line, study::RecordFormat::csv));
        }
      } else if (!line.empty()) {
        json_line(line);
      }
    }
    result_.kind = is_sweep_ ? fmt::format("sweep output, {} of {} points", records_, points_)
                             : base::counted(records_, "record");
    if (is_sweep_ && shards_ <= 1 && records_ < points_) {
      result_.warnings.push_back("holds " + std::to_string(records_) + " of " +
                                 std::to_string(points_) + " points; continue with sweep --resume");
    }
    return std::move(result_);
  }

private:
  void error(const std::string& message) {
    result_.errors.push_back({name_, std::to_string(number_), message});
  }

  // The line as JSON; empty after an error. The parser counts its own line as the first, so that
  // only the column of its place is of use here.
  std::optional<io::Json> parsed(std::string_view line) {
    try {
      return io::parse_json(line, "");
    } catch (const InputError& failure) {
      const base::Problem& problem = failure.problems().front();
      error((problem.where.empty() ? "" : problem.where + ": ") + problem.message);
      return std::nullopt;
    }
  }

  // 0 after an error, so that the check of the records can go on.
  std::int64_t integer_in(const io::Json& tree, std::string_view key) {
    const io::Json* value = tree.find(key);
    if (value == nullptr || !value->is_integer() || value->as_integer() < 0) {
      error(std::string(key) + ": must be an integer >= 0");
      return 0;
    }
    return value->as_integer();
  }

  // The scenario in the header is parsed with the file's name as its origin: names of files inside
  // are relative to it. Axes are multiplied out only to compare the number of points.
  void sweep_header(std::string_view line) {
    is_sweep_ = true;
    csv_ = line.starts_with('#');
    line.remove_prefix(csv_ ? 2 : 0);
    if (!parsed(line)) {
      return;
    }
    const io::Json header = io::parse_json(line, name_); // names of files are relative to it
    points_ = integer_in(header, "points_total");
    shards_ = integer_in(header, "shards");
    if (header.find("scenario") == nullptr) {
      result_.warnings.emplace_back("written by an earlier stepsim: run --point needs the scenario "
                                    "in the header");
      return;
    }
    try {
      const study::Sweep sweep = study::sweep_of_header(header);
      if (sweep.grid.points() != points_) {
        error("points_total is " + std::to_string(points_) + ", the axes have " +
              std::to_string(sweep.grid.points()) + " combinations");
      }
    } catch (const InputError& failure) {
      std::ranges::copy(failure.problems(), std::back_inserter(result_.errors));
    } catch (const UsageError& failure) {
      error(failure.what());
    }
  }

  // Records stand in the order of the points, whatever the number of threads; gaps are allowed,
  // since a shard holds every n-th point.
  void point(const study::RecordMark& mark) {
    if (mark.point < 0) {
      error("is no record of a point");
    } else if (mark.point <= last_ || (points_ > 0 && mark.point >= points_)) {
      error(fmt::format("point {} stands behind point {} of {}", mark.point, last_, points_));
    }
    last_ = std::max(last_, mark.point);
    ++records_;
  }

  // All records of a sweep have the same keys: a record with others comes from another version or
  // scenario.
  void json_line(const std::string& line) {
    const std::optional<io::Json> record = parsed(line);
    if (!record) {
      return;
    }
    if (!record->is_object()) {
      error("must be an object");
      return;
    }
    if (!is_sweep_) {
      ++records_;
      return;
    }
    point(study::record_mark(line, study::RecordFormat::jsonl));
    auto keys = base::collected<std::string>(record->as_object(), &io::Object::value_type::first);
    if (keys_.empty()) {
      keys_ = std::move(keys);
    } else if (keys != keys_) {
      error("has other keys than the first record");
    }
  }

  const std::string& name_;
  Checked result_;
  std::size_t number_ = 0;
  bool is_sweep_ = false, csv_ = false;
  std::int64_t points_ = 0, shards_ = 1, records_ = 0, last_ = -1;
  std::vector<std::string> keys_; // of the first record
};

} // namespace

bool is_lines_file(const std::string& name) {
  return name != "-" && (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") ||
                         study::is_sweep_output(io::head_of(name)));
}

Checked check_lines(const std::string& name) { return LinesChecker(name).check(); }

} // namespace stepsim::cli
