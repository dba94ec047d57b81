#include "study/sweep_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

std::string reason(int error) { return std::strerror(error); }

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

SweepOutput::SweepOutput(const std::string& path, Open mode) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    path_ = "standard output";
    return;
  }
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (mode == Open::create ? O_TRUNC : O_APPEND);
  descriptor_ = ::open(path.c_str(), flags, 0666);
  if (descriptor_ < 0) {
    throw SimulationError(path + ": cannot write: " + reason(errno));
  }
}

SweepOutput::~SweepOutput() {
  if (descriptor_ > STDERR_FILENO) {
    ::close(descriptor_);
  }
}

void SweepOutput::fail(int error) const {
  throw SimulationError(path_ + ": write failed: " + reason(error) +
                        (safe_point_ < 0
                             ? " (no point is safe)"
                             : " (points 0.." + std::to_string(safe_point_) + " are safe)"));
}

void SweepOutput::write(std::string_view lines) {
  if (text_ != nullptr) {
    text_->append(lines);
    return;
  }
  std::string_view rest = lines;
  int error = 0;
  while (!rest.empty() && error == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      error = written < 0 ? errno : ENOSPC;
    } else {
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (error != 0) {
    note_last_record(lines.substr(0, lines.size() - rest.size()));
    fail(error);
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

void SweepOutput::close() {
  if (descriptor_ > STDERR_FILENO) {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) {
      fail(errno);
    }
  }
}

RowReader::RowReader(const std::string& path) : path_(path) {
  struct stat status {};
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    throw InputError(path, "", "cannot read: " + reason(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(path, "", "cannot read: is a directory");
  }
}

RowReader::~RowReader() { ::close(descriptor_); }

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
    throw InputError(path_, "", "cannot read: " + reason(errno));
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
    if (row != line) {
      const auto same = [&](std::string_view key) {
        return header_value(row, key) == header_value(line, key);
      };
      const std::string_view hash = header_value(row, "grid_hash");
      if (hash.empty()) {
        throw InputError(path, "", "is no sweep output of this format");
      }
      if (!same("grid_hash")) {
        throw InputError(path, "",
                         "belongs to another sweep: grid_hash " + std::string(hash) +
                             ", this one has " + std::string(header_value(line, "grid_hash")));
      }
      if (!same("shard") || !same("shards")) {
        throw InputError(path, "",
                         "holds shard " + std::string(header_value(row, "shard")) + "/" +
                             std::string(header_value(row, "shards")) + ", not " +
                             std::to_string(shard.index) + "/" + std::to_string(shard.count));
      }
      throw InputError(path, "", "was written by another version or with other axis values");
    }
    expected.remove_prefix(line.size() + 1);
  }
  existing.end = reader.offset();
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

bool replace_records(const std::string& path, std::string_view header, const Existing& existing,
                     RecordFormat format,
                     const std::function<std::string(std::int64_t index)>& again) {
  const std::string copy = path + ".unfinished-" + std::to_string(static_cast<long>(getpid()));
  try {
    SweepOutput out(copy, SweepOutput::Open::create);
    RowReader reader(path);
    std::string_view row;
    std::string block(header);
    while (reader.offset() < header.size() && reader.next(row, RecordFormat::jsonl)) {}
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
        out.write(block);
        block.clear();
      }
    }
    out.write(block);
    out.close();
    if (!changed) {
      ::unlink(copy.c_str());
      return false;
    }
    if (std::rename(copy.c_str(), path.c_str()) != 0) {
      throw SimulationError(path + ": write failed: " + reason(errno));
    }
  } catch (...) {
    ::unlink(copy.c_str());
    throw;
  }
  return true;
}

} // namespace stepsim::study
