#pragma once
// The parts of an .npz file: a zip archive of arrays in NumPy's .npy format, stored without
// compression, so that an array lies in the file as it lies in memory (little-endian) and can be
// written while its values are made. All sizes are in the 64-bit form of zip. Formats:
// numpy.lib.format 1.0; PKWARE APPNOTE 6.3.3, sections 4.3 and 4.5.3.
//     [local header "a.npy"][.npy header][values]  [local header "b.npy"] ...  [directory]
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stepsim::io {

// One array of a file.
struct NpzEntry {
  std::string name;       // without .npy
  std::uint64_t offset{}; // of its local header
  std::uint64_t bytes{};  // of the .npy header and the values
  std::uint32_t crc{};    // CRC-32 of those bytes
};

// The head of an array: `type` as NumPy writes it ("<f8"), `shape` as Python writes a tuple
// ("(10,)"). Its length is a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(std::string_view type, std::string_view shape);
// What stands before the array, and where in it the CRC stands.
[[nodiscard]] std::string npz_local_header(const NpzEntry& entry);
inline constexpr std::uint64_t kNpzCrcOffset = 14;
// The end of the file; it stands at `offset`.
[[nodiscard]] std::string npz_directory(std::span<const NpzEntry> entries, std::uint64_t offset);

// CRC-32 of more bytes behind those of `crc` (0 for none).
[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc = 0);

// Bytes of a file at any place.
class RandomAccessFile {
public:
  explicit RandomAccessFile(const std::string& path); // throws InputError
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fewer bytes than `size` at the end of the file only.
  [[nodiscard]] std::string read(std::uint64_t offset, std::size_t size) const;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_{};
};

// The arrays of a complete file by their names. Throws InputError for a file without a directory of
// this form.
[[nodiscard]] std::map<std::string, NpzEntry> npz_entries(const RandomAccessFile& file);

} // namespace stepsim::io
