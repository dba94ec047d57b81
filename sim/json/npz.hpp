#pragma once
// The parts of an .npz file: a zip archive of arrays in NumPy's .npy format. The arrays are not
// compressed, so that they are little-endian in the file as in memory and can be written while
// their values are computed. All sizes have the 64-bit form of zip. Formats: numpy.lib.format 1.0;
// PKWARE APPNOTE 6.3.3, sections 4.3 and 4.5.3.
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
  std::uint64_t offset{}; // offset of its local header
  std::uint64_t bytes{};  // size of the .npy header and the values
  std::uint32_t crc{};    // CRC-32 of the .npy header and the values
};

// The header of an array: `type` as in NumPy ("<f8"), `shape` as a Python tuple ("(10,)"). Its
// length is a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(std::string_view type, std::string_view shape);
// The zip header before an array, and the offset of the CRC in it.
[[nodiscard]] std::string npz_local_header(const NpzEntry& entry);
inline constexpr std::uint64_t kNpzCrcOffset = 14;
// The directory at the end of the file; `offset` is its own offset.
[[nodiscard]] std::string npz_directory(std::span<const NpzEntry> entries, std::uint64_t offset);

// Reads bytes at any offset of a file.
class RandomAccessFile {
public:
  explicit RandomAccessFile(const std::string& path); // throws InputError
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Returns fewer than `size` bytes only at the end of the file.
  [[nodiscard]] std::string read(std::uint64_t offset, std::size_t size) const;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_{};
};

// The arrays of a complete file by name. Throws InputError for a file without such a directory.
[[nodiscard]] std::map<std::string, NpzEntry> npz_entries(const RandomAccessFile& file);

} // namespace stepsim::io
