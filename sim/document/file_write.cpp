// Content that replaces a file goes to a temporary one first and is on the
// disk before the rename, so that a power failure leaves the old content or the new. A growing file
// is written in place, under a lock that its process holds to the end.
#include "document/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "document/file_target.hpp"
#include "document/zlib_bytes.hpp"

namespace stepsim::io {

namespace {

bool is_direct(const Target& target) {
  return target.kind == Target::Kind::special || target.kind == Target::Kind::descriptor;
}

// Another process that is writing the file in place keeps it.
Descriptor share_lock(const Target& target) {
  if (target.kind != Target::Kind::regular) {
    return {};
  }
  Descriptor file(::open(target.place.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open()) {
    lock_or_fail(target, file.get(), Lock::shared);
  }
  return file;
}

} // namespace

struct OutputFile::State {
  Target target;
  Mode mode{};
  Descriptor output;
  Descriptor lock;          // on the file that is being replaced
  std::string temporary;    // "" if the target is written itself
  std::vector<char> buffer; // what waits for the next write
  std::uint64_t written = 0;
  std::uint64_t end = 0;     // behind the last byte of a growing file
  std::uint64_t started = 0; // of it, on its way to the disk
  bool compressed = false;
  z_stream stream{};
  bool stream_open = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (stream_open) {
      deflateEnd(&stream);
    }
    if (!temporary.empty()) {
      ::unlink(temporary.c_str());
    }
  }

  // Devices, pipes and descriptors have no content to protect.
  void open_direct() {
    // A descriptor of the caller is not closed with ours.
    output = Descriptor(target.kind == Target::Kind::descriptor
                            ? ::fcntl(target.number, F_DUPFD_CLOEXEC, 0)
                            : ::open(target.place.c_str(), O_WRONLY | O_CLOEXEC));
    if (!output.is_open()) {
      target.fail(errno);
    }
  }

  // Locked as long as it is written, so that another process knows that it is not abandoned.
  void open_temporary() {
    Temporary made = make_temporary(target, mode == Mode::grow ? Lock::exclusive : Lock::shared);
    temporary = std::move(made.path);
    output = std::move(made.descriptor);
  }

  // The file itself, made if absent, locked; not yet changed.
  void open_in_place() {
    while (true) {
      output = Descriptor(::open(target.place.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
      if (!output.is_open()) {
        target.fail(errno);
      }
      lock_or_fail(target, output.get(), Lock::exclusive);
      struct stat there {};
      struct stat here {};
      if (::fstat(output.get(), &here) != 0 || ::lseek(output.get(), 0, SEEK_END) < 0) {
        target.fail(errno);
      }
      if (::stat(target.place.c_str(), &there) == 0 && there.st_ino == here.st_ino &&
          there.st_dev == here.st_dev) { // else it was replaced before the lock
        break;
      }
    }
    end = static_cast<std::uint64_t>(std::max<off_t>(::lseek(output.get(), 0, SEEK_CUR), 0));
    remove_abandoned(target);
    if (target.kind == Target::Kind::absent) {
      sync_folder(target);
    }
  }

  // All of it: the system may take less at a time, or be interrupted by a signal.
  void put(const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t done = ::write(output.get(), bytes, size);
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done <= 0) {
        target.fail(done < 0 ? errno : ENOSPC);
      }
      bytes += done;
      size -= static_cast<std::size_t>(done);
      written += static_cast<std::uint64_t>(done);
      end += static_cast<std::uint64_t>(done);
    }
  }

  // Whoever cuts a growing file leaves a hole where the next write goes.
  void require_whole() const {
    struct stat status {};
    if (mode != Mode::grow || is_direct(target) || ::fstat(output.get(), &status) != 0 ||
        (status.st_nlink > 0 && static_cast<std::uint64_t>(status.st_size) >= end)) {
      return;
    }
    throw SimulationError(
        target.path +
        (status.st_nlink == 0 ? std::string(": was removed")
                              : ": was cut to " + std::to_string(status.st_size) + " bytes") +
        " by another program while it was being written; begin anew with --force");
  }

  // Lets the disk begin with what has come since the last time, so that little is left to wait for
  // in the end. It is a hint: what fails here fails again when it matters.
  void start_writing() {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 24;
    if (written - started >= kPiece) {
      started = written;
      (void)::sync_file_range(output.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    }
  }

  // zlib gives output until there is none left for this input.
  void compress_buffer(int flush) {
    std::array<char, kChunk> out;
    stream.next_in = zlib_bytes(buffer.data());
    stream.avail_in = static_cast<uInt>(buffer.size());
    do {
      stream.next_out = zlib_bytes(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, flush);
      put(out.data(), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }

  void flush(bool last) {
    if (compressed) {
      compress_buffer(last ? Z_FINISH : Z_NO_FLUSH);
    } else {
      put(buffer.data(), buffer.size());
    }
    buffer.clear();
  }

  // The temporary file takes the place of the target, and its descriptor stays open.
  // Content first, then the name, then the folder: after each step a crash leaves a whole file.
  void put_in_place() {
    sync_content(target, output.get());
    if (std::rename(temporary.c_str(), target.place.c_str()) != 0) {
      target.fail(errno);
    }
    temporary.clear();
    sync_folder(target);
  }
};

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

OutputFile::OutputFile(const std::string& path, Mode mode) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.target = find_target(path);
  s.mode = mode;
  if (is_direct(s.target)) {
    s.open_direct();
  } else if (mode == Mode::grow) {
    s.open_in_place();
  } else {
    s.lock = share_lock(s.target);
    s.open_temporary();
  }
  s.compressed = mode == Mode::replace && path.ends_with(".gz");
  if (s.compressed) {
    constexpr int kGzip = 15 + 16;
    if (deflateInit2(&s.stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      s.target.fail(ENOMEM);
    }
    s.stream_open = true;
  }
}

OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

// A growing file is written at once, so that readers see whole records.
void OutputFile::write(std::string_view bytes) {
  State& s = *state_;
  if (s.mode == Mode::grow) {
    s.put(bytes.data(), bytes.size());
    s.start_writing();
    return;
  }
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kChunk);
    s.buffer.insert(s.buffer.end(), part.begin(), part.end());
    bytes.remove_prefix(part.size());
    if (s.buffer.size() >= kChunk) {
      s.flush(false);
    }
  }
}

void OutputFile::require_whole() const { state_->require_whole(); }

// Until here the target is as it was.
void OutputFile::commit() {
  State& s = *state_;
  assert(s.output.is_open() && "a file is committed once");
  s.flush(true);
  s.require_whole();
  if (!s.temporary.empty()) {
    s.put_in_place();
  } else if (!is_direct(s.target)) {
    sync();
  }
  if (s.output.close() != 0) {
    s.target.fail(errno);
  }
}

const std::string& OutputFile::name() const { return state_->target.path; }
std::uint64_t OutputFile::written() const { return state_->written; }

std::uint64_t OutputFile::size() const {
  struct stat status {};
  const bool known = !is_direct(state_->target) && ::fstat(state_->output.get(), &status) == 0;
  return known ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Takes back what a killed process had written in part.
void OutputFile::cut(std::uint64_t size) {
  State& s = *state_;
  assert(s.buffer.empty() && !s.compressed && "what waits for a write has no place yet");
  if (is_direct(s.target)) {
    return;
  }
  if (::ftruncate(s.output.get(), static_cast<off_t>(size)) != 0 ||
      ::lseek(s.output.get(), 0, SEEK_END) < 0) {
    s.target.fail(errno);
  }
  s.end = size;
}

void OutputFile::sync() {
  if (!is_direct(state_->target)) {
    sync_content(state_->target, state_->output.get());
  }
}

// Of a growing file whose beginning changes: the copy takes its place in one step.
OutputFile OutputFile::begin_rewrite() const {
  assert(state_->mode == Mode::grow && !is_direct(state_->target) && "only a growing file has one");
  auto copy = std::make_unique<State>();
  copy->target = find_target(state_->target.path); // with its mode
  copy->mode = Mode::grow;
  copy->open_temporary();
  return OutputFile(std::move(copy));
}

void OutputFile::end_rewrite(OutputFile&& copy) {
  copy.state_->put_in_place();
  state_->output = std::move(copy.state_->output); // its lock holds the new file
  state_->end = copy.state_->end;
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

// By device and inode, so that links and other spellings of a path are seen through.
bool same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat two {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &two) == 0 && S_ISREG(one.st_mode) &&
         one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

bool is_regular(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_replaceable(const std::string& path) {
  return path != "-" && !is_direct(find_target(path));
}

} // namespace stepsim::io
