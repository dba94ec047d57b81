#pragma once
// A tar archive (POSIX ustar, GNU and pax headers) as a stream of bytes: the names of its files and
// the content of the first one. Folders, links and the files that macOS adds ("._name") do not
// count. Blocks have 512 bytes: a header with name, size and type, then the content, filled up with
// zeros; two blocks of zeros end the archive.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::io {

inline constexpr std::size_t kTarBlock = 512;

// By the word "ustar" in the first block of a file.
[[nodiscard]] bool looks_like_tar(std::string_view head);

class TarStream {
public:
  // `file` is the name of the archive in messages.
  explicit TarStream(std::string file) : file_(std::move(file)) {}

  // Removes bytes from the front of `bytes` up to the end of the next part of the first file's
  // content, and returns that part; empty where `bytes` holds no more of it. Throws InputError for
  // a damaged header.
  std::string_view take(std::string_view& bytes);
  // Called behind the last byte. Throws InputError unless the archive is complete and holds exactly
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
  std::size_t filled_ = 0; // bytes of header_
  State state_ = State::header;
  Kind kind_ = Kind::skipped;
  std::uint64_t left_ = 0; // bytes of the body or of the padding
  std::size_t padding_ = 0;
  std::uint64_t position_ = 0;
  std::string text_;               // body of a header that describes the next entry
  std::string next_name_;          // from such a header; empty = none
  std::vector<std::string> names_; // of files; the first kMostNames
  std::uint64_t files_ = 0, next_size_ = 0;
  bool has_next_size_ = false;
};

} // namespace stepsim::io
