// What a sweep has written is a prefix of what it will write. Resuming depends on nothing else:
// header and records are compared with what they have to be, and the rest is written behind them.
#include "study/sweep/sweep_output.hpp"

#include <cerrno>
#include <filesystem>

#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

// The value of a member of a header as JSON text, "" if it is absent.
std::string member_text(const SweepHeader& header, std::string_view key) {
  const io::Json* value = header.json.find(key);
  return value == nullptr ? "" : io::compact(*value);
}

// The first line is that of the JSON, behind "# " in CSV.
SweepHeader header_of_line(std::string_view line, const std::string& path) {
  SweepHeader header;
  if (line.starts_with("# ")) {
    header.format = RecordFormat::csv;
    line.remove_prefix(2);
  }
  header.json = io::parse_json(line, path);
  return header;
}

// `found` is the header in the file, `expected` that of this sweep and shard.
void require_same_header(const std::string& path, const SweepHeader& found,
                         const SweepHeader& expected, const Shard& shard) {
  const std::string hash = member_text(found, "grid_hash");
  if (hash.empty()) {
    throw InputError(path, "", "is no sweep output of this format");
  }
  const auto same = [&](std::string_view key) {
    return member_text(found, key) == member_text(expected, key);
  };
  if (!same("grid_hash")) {
    throw InputError(path, "",
                     "belongs to another sweep: its scenario, axes or files differ from those "
                     "asked for (grid_hash " +
                         hash + ", now " + member_text(expected, "grid_hash") +
                         "); --force starts anew, another -o keeps both");
  }
  if (!same("shard") || !same("shards")) {
    throw InputError(path, "",
                     fmt::format("holds shard {}/{}, not {}/{}", member_text(found, "shard"),
                                 member_text(found, "shards"), shard.index, shard.count));
  }
  if (!same_work(found, expected)) {
    throw InputError(path, "",
                     "was written by another version, or with other axis values or --columns");
  }
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
  } catch (const io::ClosedPipe&) {
    throw;
  } catch (const SimulationError& error) {
    note_last_record(last_);
    note_last_record(lines.substr(0, file_->written() - before));
    throw SimulationError(error.what() +
                          (safe_point_ < 0
                               ? std::string(" (no point is safe)")
                               : " (points 0.." + std::to_string(safe_point_) + " are safe)"));
  }
  last_ = lines;
}

// The last complete row of `done`, if it is a record.
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

RowReader::RowReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) {
    throw InputError(path, "", "cannot read: " + io::reason_text(errno));
  }
  if (std::filesystem::is_directory(path)) {
    throw InputError(path, "", "cannot read: is a directory");
  }
}

// A row of CSV goes on in the next line while one of its quotes is open.
bool RowReader::next(std::string_view& row, RecordFormat format) {
  row_.clear();
  std::string line;
  bool quoted = false;
  do {
    row_ += quoted ? "\n" : "";
    std::getline(file_, line);
    if (file_.bad()) {
      throw InputError(path_, "", "cannot read: " + io::reason_text(errno));
    }
    row_ += line;
    if (file_.eof()) {
      return false;
    }
    quoted = quoted != (format == RecordFormat::csv && std::ranges::count(line, '"') % 2 == 1);
  } while (quoted);
  row = row_;
  offset_ += row_.size() + 1;
  return true;
}

std::optional<SweepHeader> read_sweep_header(RowReader& reader) {
  std::string_view line;
  if (!reader.next(line, RecordFormat::jsonl)) {
    return std::nullopt;
  }
  SweepHeader header = header_of_line(line, reader.path());
  if (header.format == RecordFormat::csv) {
    if (!reader.next(line, RecordFormat::jsonl)) {
      return std::nullopt;
    }
    header.columns = line;
  }
  return header;
}

bool same_work(SweepHeader a, SweepHeader b) {
  for (SweepHeader* header : {&a, &b}) {
    for (const std::string_view key : {"scenario", "files", "shard"}) {
      header->json.set(key, nullptr);
    }
  }
  return a.format == b.format && a.columns == b.columns &&
         io::compact(a.json) == io::compact(b.json);
}

Existing scan_existing(const std::string& path, std::string_view header, const Shard& shard,
                       RecordFormat format) {
  RowReader reader(path);
  Existing existing;
  std::optional<SweepHeader> found;
  try {
    found = read_sweep_header(reader);
  } catch (const InputError&) {
    throw InputError(path, "", "is no sweep output of this format");
  }
  const std::size_t end = header.find('\n');
  if (!found) {
    const std::size_t begin = reader.offset() == 0 ? 0 : end + 1;
    if (begin < header.size() && header.substr(begin).starts_with(reader.rest())) {
      return existing; // cut off inside the header: as if there were no file
    }
    throw InputError(path, "", "belongs to another sweep, or is no sweep output");
  }
  SweepHeader expected = header_of_line(header.substr(0, end), path);
  expected.columns = header.substr(end + 1, header.find('\n', end + 1) - end - 1);
  require_same_header(path, *found, expected, shard);
  existing.header = existing.end = reader.offset();
  std::string_view row;
  while (reader.next(row, format)) {
    const RecordMark mark = record_mark(row, format);
    if (mark.point != shard.point(existing.records)) {
      throw InputError(path, "",
                       fmt::format("record {} is not that of point {}: the file was changed",
                                   existing.records + 1, shard.point(existing.records)));
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
