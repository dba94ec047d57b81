#pragma once
// Reads a tar archive (POSIX ustar, GNU and pax headers) as a stream of bytes: the names of its
// files and the content of the first one. Folders, links and files that macOS adds ("._name") are
// ignored. Blocks have 512 bytes: a header with name, size and type, then the content, padded with
// zeros. Two blocks of zeros end the archive.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::io {

inline constexpr std::size_t kTarBlock = 512;

// Whether the first block of a file has the word "ustar".
[[nodiscard]] bool looks_like_tar(std::string_view head);

class TarStream {
public:
  // `file` is the name of the archive in messages.
  explicit TarStream(std::string file) : file_(std::move(file)) {}

  // Consumes bytes from the front of `bytes` up to the next part of the first file's content, and
  // returns that part; empty if `bytes` has no more of it. Throws InputError for a damaged header.
  std::string_view take(std::string_view& bytes);
  // Call it after the last byte. Throws InputError unless the archive is complete and has exactly
  // one file; the message lists the files.
  void finish() const;

private:
  enum class Kind : std::uint8_t { skipped, content, name, pax };
  enum class State : std::uint8_t { header, body, padding, ended };

  void read_header();
  void read_pax();
  void begin_entry(std::string name, std::uint64_t size, char type);
  [[noreturn]] void damaged() const;

  std::string file_;
  std::array<char, kTarBlock> header_{};
  std::size_t filled_ = 0; // bytes read of header_
  State state_ = State::header;
  Kind kind_ = Kind::skipped;
  std::uint64_t left_ = 0; // bytes left of the body or the padding
  std::size_t padding_ = 0;
  std::uint64_t position_ = 0;     // bytes read of the archive
  std::string text_;               // body of a header that describes the next entry
  std::string next_name_;          // name that such a header gives; empty = none
  std::vector<std::string> names_; // names of files, at most kMostNames
  std::uint64_t files_ = 0, next_size_ = 0;
  bool has_next_size_ = false;
};

} // namespace stepsim::io
