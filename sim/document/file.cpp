// Reading by chunks of a fixed size, of which a gzip stream makes chunks of another. A file may
// hold several gzip members one after the other, as `cat a.gz b.gz` makes. An archive is read twice
// where that is possible: all its files are listed before the content of the first one is given.
#include "document/file.hpp"

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cassert>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "document/sha256.hpp"
#include "document/tar.hpp"
#include "document/zlib_bytes.hpp"

namespace stepsim::io {

std::string reason_text(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

struct ByteSource::State {
  std::string name;
  int descriptor = -1;
  std::uint64_t max_bytes{};
  std::uint64_t raw_bytes{};
  std::uint64_t given_bytes{};
  std::optional<Sha256> hash; // if the digest was asked for
  std::vector<char> raw = std::vector<char>(kChunk);
  std::size_t raw_begin{}, raw_end{}; // unread part of `raw`
  bool raw_at_end = false;
  enum class Format { unknown, plain, gzip } format = Format::unknown;
  std::vector<char> inflated;
  z_stream stream{};
  bool stream_open = false;
  bool member_open = false; // inside a gzip member
  std::string head;         // the first bytes, inflated, by which an archive is recognised
  std::string_view ahead;   // of head or of an archive's chunk, not given yet
  std::optional<TarStream> archive;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (stream_open) {
      inflateEnd(&stream);
    }
    // Standard input, 0, belongs to the caller.
    if (descriptor > 0) {
      ::close(descriptor);
    }
  }

  [[noreturn]] void fail(const std::string& message) const { throw InputError(name, "", message); }

  // Appends to the unread part; false at the end of the file.
  // One system call; interrupted ones are repeated.
  bool fill() {
    if (raw_at_end) {
      return false;
    }
    if (raw_begin == raw_end) {
      raw_begin = raw_end = 0;
    }
    ssize_t got{};
    do {
      got = ::read(descriptor, raw.data() + raw_end, raw.size() - raw_end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      fail("cannot read: " + reason_text(errno));
    }
    if (got == 0) {
      raw_at_end = true;
      return false;
    }
    const auto count = static_cast<std::size_t>(got);
    if (hash) {
      hash->update({raw.data() + raw_end, count});
    }
    raw_end += count;
    raw_bytes += count;
    return true;
  }

  // By content, since a name may say anything.
  void detect() {
    while (raw_end - raw_begin < 2 && fill()) {}
    const bool gzip =
        raw_end - raw_begin >= 2 && raw[raw_begin] == '\x1f' && raw[raw_begin + 1] == '\x8b';
    format = gzip ? Format::gzip : Format::plain;
    if (gzip) {
      inflated.resize(4 * kChunk);
      open_member();
    }
  }

  void open_member() {
    // zlib: the largest window, and gzip headers only.
    constexpr int kGzipOnly = 15 + 16;
    const int result = stream_open ? inflateReset(&stream) : inflateInit2(&stream, kGzipOnly);
    if (result != Z_OK) {
      fail("cannot inflate: out of memory");
    }
    stream_open = member_open = true;
  }

  // After a member: another one, zero padding, or the end.
  bool next_member() {
    while (raw_begin < raw_end || fill()) {
      if (raw[raw_begin] == '\x1f') {
        open_member();
        return true;
      }
      if (raw[raw_begin] != '\0') {
        fail("bytes that are no gzip stream at byte " +
             std::to_string(raw_bytes - (raw_end - raw_begin)));
      }
      ++raw_begin;
    }
    return false;
  }

  // The limit on bytes holds for what comes out, so that a small file that inflates to terabytes
  // ends in an error at once.
  std::string_view inflate_some() {
    while (member_open || next_member()) {
      if (raw_begin == raw_end && !fill()) {
        fail("gzip stream ends at byte " + std::to_string(raw_bytes));
      }
      stream.next_in = zlib_bytes(raw.data() + raw_begin);
      stream.avail_in = static_cast<uInt>(raw_end - raw_begin);
      stream.next_out = zlib_bytes(inflated.data());
      stream.avail_out = static_cast<uInt>(inflated.size());
      const int result = inflate(&stream, Z_NO_FLUSH);
      raw_begin = raw_end - stream.avail_in;
      if (result == Z_STREAM_END) {
        member_open = false;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        const std::string reason = stream.msg != nullptr ? stream.msg : "unknown reason";
        const bool check = reason == "incorrect data check" || reason == "incorrect length check";
        const std::uint64_t place = raw_bytes - (raw_end - raw_begin);
        fail(check ? fmt::format("gzip checksum does not match ({} at byte {})", reason, place)
                   : fmt::format("gzip stream is damaged at byte {}: {}", place, reason));
      }
      if (const std::size_t made = inflated.size() - stream.avail_out; made > 0) {
        return {inflated.data(), made};
      }
    }
    return {};
  }

  // The next bytes of the file, without looking into archives; empty at the end.
  std::string_view inflated_some() {
    if (format == Format::gzip) {
      return inflate_some();
    }
    if (raw_begin == raw_end && !fill()) {
      return {};
    }
    const std::string_view chunk(raw.data() + raw_begin, raw_end - raw_begin);
    raw_begin = raw_end;
    return chunk;
  }

  void detect_archive() {
    while (head.size() < kTarBlock) {
      const std::string_view chunk = inflated_some();
      if (chunk.empty()) {
        break;
      }
      head += chunk;
    }
    ahead = head;
    if (looks_like_tar(head)) {
      archive.emplace(name);
    }
  }

  std::string_view archive_some() {
    while (true) {
      if (const std::string_view part = archive->take(ahead); !part.empty()) {
        return part;
      }
      ahead = inflated_some();
      if (ahead.empty()) {
        archive->finish();
        return {};
      }
    }
  }
};

ByteSource::ByteSource(const std::string& path, std::uint64_t max_bytes, bool with_digest)
    : state_(std::make_unique<State>()) {
  state_->name = path == "-" ? "<stdin>" : path;
  state_->max_bytes = max_bytes;
  if (with_digest) {
    state_->hash.emplace();
  }
  state_->descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state_->descriptor < 0) {
    state_->fail("cannot read: " + reason_text(errno));
  }
}

ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;

// Never more than one chunk of the file and one of the inflated bytes is in memory.
std::string_view ByteSource::next() {
  State& s = *state_;
  std::string_view chunk;
  if (s.format == State::Format::unknown) {
    s.detect();
    s.detect_archive();
    if (s.archive) {
      list_archive();
    }
  }
  if (s.archive) {
    chunk = s.archive_some();
  } else if (!s.ahead.empty()) {
    chunk = std::exchange(s.ahead, {});
  } else {
    chunk = s.inflated_some();
  }
  s.given_bytes += chunk.size();
  if (s.given_bytes > s.max_bytes) {
    s.fail(fmt::format("larger than {} bytes", s.max_bytes));
  }
  return chunk;
}

// A second reader of the same file, which only looks for the names. What a pipe gives is gone once
// it is read: there the end of the archive has to tell.
void ByteSource::list_archive() {
  State& s = *state_;
  std::error_code error;
  if (s.descriptor == STDIN_FILENO || !std::filesystem::is_regular_file(s.name, error)) {
    return;
  }
  ByteSource again(s.name, s.max_bytes);
  again.state_->detect();
  again.state_->archive.emplace(s.name);
  std::uint64_t bytes = 0;
  for (std::string_view chunk = again.state_->inflated_some(); !chunk.empty();
       chunk = again.state_->inflated_some()) {
    bytes += chunk.size();
    if (bytes > s.max_bytes) {
      s.fail(fmt::format("larger than {} bytes", s.max_bytes));
    }
    while (!again.state_->archive->take(chunk).empty()) {}
  }
  again.state_->archive->finish();
}

const std::string& ByteSource::name() const { return state_->name; }
std::uint64_t ByteSource::file_bytes() const { return state_->raw_bytes; }
std::string ByteSource::digest() const {
  assert(state_->hash && "the digest was asked for when the file was opened");
  return state_->hash->hex();
}

std::string read_text(const std::string& path, std::uint64_t max_bytes) {
  ByteSource source(path, max_bytes);
  std::string text;
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    text += chunk;
  }
  return text;
}

std::string relative_to(std::string_view file, std::string_view name) {
  if (file.empty() || file == "<stdin>" || name == "-") {
    return std::string(name);
  }
  return (std::filesystem::path(file).parent_path() / std::filesystem::path(name)).string();
}

} // namespace stepsim::io
