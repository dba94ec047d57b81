// What a sweep has written is a prefix of what it will write. Resuming depends on nothing else:
// header and records are compared with what they have to be, and the rest is written behind them.
#include "study/sweep/sweep_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

// The value of "key" in the flat text of a header, up to the next comma or brace.
std::string_view header_value(std::string_view header, std::string_view key) {
  std::string quoted(1, '"');
  quoted.append(key).append("\":");
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = header.substr(at + quoted.size());
  return rest.substr(0, rest.find_first_of(",}"));
}

} // namespace

// The message of a full disk says which points are safe, because the user will want to resume.
void SweepOutput::write(std::string_view lines) {
  if (text_ != nullptr) {
    text_->append(lines);
    return;
  }
  file_->require_whole(); // no point is safe
  const std::uint64_t before = file_->written();
  try {
    file_->write(lines);
    if (const auto now = std::chrono::steady_clock::now(); now - synced_ >= kSyncInterval) {
      synced_ = now;
      file_->sync();
    }
  } catch (const SimulationError& error) {
    note_last_record(lines.substr(0, file_->written() - before));
    throw SimulationError(error.what() +
                          (safe_point_ < 0
                               ? std::string(" (no point is safe)")
                               : " (points 0.." + std::to_string(safe_point_) + " are safe)"));
  }
  note_last_record(lines);
}

// The last complete row of what has been written, if it is a record.
void SweepOutput::note_last_record(std::string_view done) {
  const std::size_t end = done.rfind('\n');
  if (end == std::string_view::npos) {
    return;
  }
  const std::size_t before = done.substr(0, end).rfind('\n');
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view row = done.substr(begin, end - begin);
  for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv}) {
    if (const RecordMark mark = record_mark(row, format); mark.point >= 0) {
      safe_point_ = mark.point;
    }
  }
}

RowReader::RowReader(const std::string& path) : path_(path) {
  struct stat status {};
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    throw InputError(path, "", "cannot read: " + io::reason_text(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(path, "", "cannot read: is a directory");
  }
}

RowReader::~RowReader() { ::close(descriptor_); }

// What has been given out is dropped before more is read, so that the buffer holds one row and one
// block at most.
bool RowReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  ssize_t got = -1;
  do {
    got = ::read(descriptor_, buffer_.data() + size, kBlock);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    throw InputError(path_, "", "cannot read: " + io::reason_text(errno));
  }
  buffer_.resize(size + static_cast<std::size_t>(got));
  return got > 0;
}

bool RowReader::next(std::string_view& row, RecordFormat format) {
  std::size_t at = begin_; // scanned up to here
  bool quoted = false;
  for (;;) {
    for (; at < buffer_.size(); ++at) {
      const char c = buffer_[at];
      quoted = quoted != (format == RecordFormat::csv && c == '"');
      if (c == '\n' && !quoted) {
        row = std::string_view(buffer_).substr(begin_, at - begin_);
        offset_ += at + 1 - begin_;
        begin_ = at + 1;
        return true;
      }
    }
    const std::size_t scanned = at - begin_;
    if (!fill()) {
      return false;
    }
    at = scanned;
  }
}

std::string_view RowReader::rest() const { return std::string_view(buffer_).substr(begin_); }

namespace {

// Headers of one grid: a scenario that is written in another way, with a default spelt out or with
// a unit, is the same scenario, which grid_hash tells.
// A line that is no JSON is compared as it stands.
bool same_but_for_scenario(std::string_view a, std::string_view b) {
  const auto without_scenario = [](std::string_view line) {
    line.remove_prefix(line.starts_with("# ") ? 2 : 0);
    io::Json header;
    try {
      header = io::parse_json(line, "");
    } catch (const InputError&) {
      return std::string(line);
    }
    if (header.is_object()) {
      header.set("scenario", nullptr);
      header.set("files", nullptr);
    }
    return io::compact(header);
  };
  return a.starts_with("# ") == b.starts_with("# ") && without_scenario(a) == without_scenario(b);
}

} // namespace

void require_same_header(const std::string& path, std::string_view row, std::string_view line,
                         const Shard& shard) {
  if (row == line || same_but_for_scenario(row, line)) {
    return;
  }
  const auto same = [&](std::string_view key) {
    return header_value(row, key) == header_value(line, key);
  };
  const std::string_view hash = header_value(row, "grid_hash");
  if (hash.empty()) {
    throw InputError(path, "", "is no sweep output of this format");
  }
  if (!same("grid_hash")) {
    throw InputError(path, "",
                     "belongs to another sweep: its scenario, axes or files differ from those "
                     "asked for (grid_hash " +
                         std::string(hash) + ", now " +
                         std::string(header_value(line, "grid_hash")) +
                         "); --force starts anew, another -o keeps both");
  }
  if (!same("shard") || !same("shards")) {
    throw InputError(path, "",
                     "holds shard " + std::string(header_value(row, "shard")) + "/" +
                         std::string(header_value(row, "shards")) + ", not " +
                         std::to_string(shard.index) + "/" + std::to_string(shard.count));
  }
  throw InputError(path, "",
                   "was written by another version, or with other axis values or --columns");
}

Existing scan_existing(const std::string& path, std::string_view header, const Shard& shard,
                       RecordFormat format) {
  RowReader reader(path);
  Existing existing;
  std::string_view expected = header;
  std::string_view row;
  while (!expected.empty()) {
    const std::string_view line = expected.substr(0, expected.find('\n'));
    if (!reader.next(row, RecordFormat::jsonl)) {
      if (expected.starts_with(reader.rest())) {
        return existing; // cut off inside the header: as if there were no file
      }
      throw InputError(path, "", "belongs to another sweep, or is no sweep output");
    }
    require_same_header(path, row, line, shard);
    expected.remove_prefix(line.size() + 1);
  }
  existing.header = existing.end = reader.offset();
  while (reader.next(row, format)) {
    const RecordMark mark = record_mark(row, format);
    if (mark.point != shard.point(existing.records)) {
      throw InputError(path, "",
                       "record " + std::to_string(existing.records + 1) + " is not that of point " +
                           std::to_string(shard.point(existing.records)) +
                           ": the file was changed");
    }
    if (mark.failed) {
      existing.failed.push_back(existing.records);
    }
    ++existing.records;
    existing.end = reader.offset();
  }
  return existing;
}

// The copy replaces the file in one step at the end: an interruption before leaves it untouched.
bool replace_records(io::OutputFile& file, const std::string& path, const Existing& existing,
                     RecordFormat format,
                     const std::function<std::string(std::int64_t index)>& again) {
  io::OutputFile copy = file.begin_rewrite();
  RowReader reader(path);
  std::string_view row;
  std::string block;
  while (reader.offset() < existing.header && reader.next(row, RecordFormat::jsonl)) {
    block.append(row).append("\n");
  }
  auto failed = existing.failed.begin();
  bool changed = false;
  for (std::int64_t i = 0; i < existing.records && reader.next(row, format); ++i) {
    if (failed != existing.failed.end() && *failed == i) {
      const std::string line = again(i);
      changed = changed || std::string_view(line).substr(0, line.size() - 1) != row;
      block += line;
      ++failed;
    } else {
      block.append(row).append("\n");
    }
    if (block.size() >= kBlock) {
      copy.write(block);
      block.clear();
    }
  }
  copy.write(block);
  if (changed) {
    file.end_rewrite(std::move(copy));
  }
  return changed;
}

} // namespace stepsim::study
