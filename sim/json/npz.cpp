// Zip's numbers are little-endian, as those of every machine that this program runs on. Archives of
// other writers are not read: what is no file of this form is refused.
#include "json/npz.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "json/file.hpp"

namespace stepsim::io {

namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory");

constexpr std::uint16_t kVersion = 45; // of zip: the first one with 64-bit sizes
constexpr std::uint16_t kDate = 0x21;  // 1 January 1980, the first day that zip knows
constexpr std::uint32_t kInExtra = 0xFFFFFFFF;
constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::size_t kEndBytes = 56 + 20 + 22; // the three records behind the directory
constexpr std::string_view kSuffix = ".npy";

class Bytes {
public:
  template <class Number> Bytes& add(Number value) {
    std::array<char, sizeof(Number)> bytes{};
    std::memcpy(bytes.data(), &value, bytes.size());
    text.append(bytes.data(), bytes.size());
    return *this;
  }
  template <class... Numbers> Bytes& all(Numbers... values) { return (add(values), ..., *this); }
  std::string text;
};

// Numbers one after the other; zeros behind the end.
class BytesReader {
public:
  explicit BytesReader(std::string_view bytes) : rest_(bytes) {}
  template <class Number> Number take() {
    Number value{};
    std::memcpy(&value, rest_.data(), std::min(sizeof value, rest_.size()));
    skip(sizeof value);
    return value;
  }
  void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }
  [[nodiscard]] std::string_view text(std::size_t count) const { return rest_.substr(0, count); }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

std::uint16_t size16(std::size_t size) { return static_cast<std::uint16_t>(size); }

// Version, flags, method, time and date: the same for every entry.
void add_common(Bytes& bytes, const NpzEntry& entry) {
  bytes.all(kVersion, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, kDate, entry.crc,
            kInExtra, kInExtra, size16(entry.name.size() + kSuffix.size()));
}

} // namespace

std::string npy_header(std::string_view type, std::string_view shape) {
  std::string text = "{'descr': '";
  text.append(type).append("', 'fortran_order': False, 'shape': ").append(shape).append(", }");
  constexpr std::size_t kBefore = 10; // magic, version and length
  const std::size_t whole = (kBefore + text.size() + 1 + 63) / 64 * 64;
  text.append(whole - kBefore - text.size() - 1, ' ').append("\n");
  Bytes bytes;
  bytes.text = "\x93NUMPY";
  bytes.all(std::uint8_t{1}, std::uint8_t{0}, size16(text.size()));
  return bytes.text + text;
}

std::string npz_local_header(const NpzEntry& entry) {
  Bytes bytes;
  bytes.add(kLocal);
  add_common(bytes, entry);
  bytes.add(std::uint16_t{20});
  bytes.text.append(entry.name).append(kSuffix);
  bytes.all(std::uint16_t{1}, std::uint16_t{16}, entry.bytes, entry.bytes);
  return bytes.text;
}

std::string npz_directory(std::span<const NpzEntry> entries, std::uint64_t offset) {
  Bytes bytes;
  for (const NpzEntry& entry : entries) {
    bytes.all(kCentral, kVersion);
    add_common(bytes, entry);
    bytes.all(std::uint16_t{28}, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0},
              std::uint32_t{0}, kInExtra);
    bytes.text.append(entry.name).append(kSuffix);
    bytes.all(std::uint16_t{1}, std::uint16_t{24}, entry.bytes, entry.bytes, entry.offset);
  }
  const std::uint64_t size = bytes.text.size();
  const std::uint64_t count = entries.size();
  bytes.all(kEnd64, std::uint64_t{44}, kVersion, kVersion, std::uint32_t{0}, std::uint32_t{0},
            count, count, size, offset);
  bytes.all(kLocator64, std::uint32_t{0}, offset + size, std::uint32_t{1});
  bytes.all(kEnd, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0xFFFF}, std::uint16_t{0xFFFF},
            kInExtra, kInExtra, std::uint16_t{0});
  return bytes.text;
}

RandomAccessFile::RandomAccessFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    throw InputError(path, "", "cannot read: " + reason_text(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(path, "", "is no regular file, as a binary sweep has to be");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RandomAccessFile::~RandomAccessFile() { ::close(descriptor_); }

std::string RandomAccessFile::read(std::uint64_t offset, std::size_t size) const {
  std::string bytes(offset < size_ ? std::min<std::uint64_t>(size, size_ - offset) : 0, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t now = ::pread(descriptor_, bytes.data() + got, bytes.size() - got,
                                static_cast<off_t>(offset + got));
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      throw InputError(path_, "", "cannot read: " + reason_text(errno));
    }
    if (now == 0) {
      bytes.resize(got); // the file was cut meanwhile
    }
    got += static_cast<std::size_t>(now);
  }
  return bytes;
}

std::map<std::string, NpzEntry> npz_entries(const RandomAccessFile& file) {
  constexpr std::uint64_t kMostDirectory = std::uint64_t{1} << 24;
  const auto refuse = [&file] {
    throw InputError(file.path(), "", "is no complete .npz file of stepsim");
  };
  if (file.size() < kEndBytes) {
    refuse();
  }
  const std::string end = file.read(file.size() - kEndBytes, kEndBytes);
  BytesReader record(end);
  const bool known = record.take<std::uint32_t>() == kEnd64;
  record.skip(28);
  const auto count = record.take<std::uint64_t>();
  const auto size = record.take<std::uint64_t>();
  const auto offset = record.take<std::uint64_t>();
  if (!known || size > kMostDirectory || size > file.size() || offset > file.size() - size) {
    refuse();
  }
  const std::string directory = file.read(offset, size);
  BytesReader reader(directory);
  std::map<std::string, NpzEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool central = reader.take<std::uint32_t>() == kCentral;
    reader.skip(12);
    NpzEntry entry;
    entry.crc = reader.take<std::uint32_t>();
    reader.skip(8);
    const auto name_bytes = reader.take<std::uint16_t>();
    reader.skip(16);
    const std::string_view name = reader.text(name_bytes);
    reader.skip(name_bytes + 4);
    entry.bytes = reader.take<std::uint64_t>();
    reader.skip(8);
    entry.offset = reader.take<std::uint64_t>();
    if (!central || !name.ends_with(kSuffix) || entry.offset > file.size() ||
        entry.bytes > file.size() - entry.offset) {
      refuse();
    }
    entry.name = name.substr(0, name.size() - kSuffix.size());
    entries.emplace(entry.name, entry);
  }
  if (!reader.at_end()) {
    refuse();
  }
  return entries;
}

} // namespace stepsim::io
