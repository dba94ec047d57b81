// The writer of file.hpp.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/file.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;

std::string error_text(int code) { return std::generic_category().message(code); }

Bytef* zlib_bytes(char* bytes) { return reinterpret_cast<Bytef*>(bytes); }

} // namespace

struct OutputFile::State {
  std::string path;   // as given, for messages
  std::string target; // symbolic links resolved
  std::string temporary;
  int descriptor = -1;
  std::vector<char> buffer; // what waits for the next write
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
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    if (!temporary.empty()) {
      ::unlink(temporary.c_str());
    }
  }

  [[noreturn]] void fail(int code) const {
    throw SimulationError(path + ": write failed: " + error_text(code));
  }

  void open() {
    std::error_code ignored;
    target = path;
    if (std::filesystem::is_symlink(path, ignored)) {
      target = std::filesystem::weakly_canonical(path, ignored).string();
    }
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0; // /dev/stdout links to no path
    if (exists && S_ISDIR(status.st_mode)) {
      fail(EISDIR);
    }
    if (exists && !S_ISREG(status.st_mode)) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) {
        fail(errno);
      }
      return;
    }
    for (int attempt = 0; descriptor < 0; ++attempt) {
      temporary = target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor < 0 && (errno != EEXIST || attempt > 1000)) {
        temporary.clear(); // nothing to remove
        fail(errno);
      }
    }
  }

  void put(const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t done = ::write(descriptor, bytes, size);
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done < 0) {
        fail(errno);
      }
      bytes += done;
      size -= static_cast<std::size_t>(done);
    }
  }

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
};

OutputFile::OutputFile(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->compressed = path.ends_with(".gz");
  state_->open();
  if (state_->compressed) {
    constexpr int kGzip = 15 + 16;
    if (deflateInit2(&state_->stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      state_->fail(ENOMEM);
    }
    state_->stream_open = true;
  }
}

OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::write(std::string_view bytes) {
  State& s = *state_;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kChunk);
    s.buffer.insert(s.buffer.end(), part.begin(), part.end());
    bytes.remove_prefix(part.size());
    if (s.buffer.size() >= kChunk) {
      s.flush(false);
    }
  }
}

void OutputFile::commit() {
  State& s = *state_;
  assert(s.descriptor >= 0 && "a file is committed once");
  s.flush(true);
  const int descriptor = std::exchange(s.descriptor, -1);
  if (::close(descriptor) != 0) {
    s.fail(errno);
  }
  if (!s.temporary.empty()) {
    if (::rename(s.temporary.c_str(), s.target.c_str()) != 0) {
      s.fail(errno);
    }
    s.temporary.clear();
  }
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

} // namespace stepsim::io
