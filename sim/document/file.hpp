#pragma once
// Reads files as streams of bytes, in chunks, so that memory does not grow with the file. gzip is
// inflated (recognised by its first two bytes, 1f 8b, not by name), with a limit on the inflated
// size. For a tar archive with one file, compressed or not, the content of that file is read.
// file_write.hpp writes files.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stepsim::io {

inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{8} << 30;
// Limit for texts that are kept in memory.
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{256} << 20;

// Reads the file at a path, or standard input for "-". Throws InputError, for example
//   `x.json: cannot read: is a directory`,
//   `x.json.gz: gzip stream ends at byte N`, N in compressed bytes,
//   `... larger than N bytes`, N = max_bytes in inflated bytes,
//   `x.tgz: tar archive of 2 files: unpack it and give one of them: a.json, b.json`.
class ByteSource {
public:
  explicit ByteSource(const std::string& path, std::uint64_t max_bytes = kDefaultMaxBytes,
                      bool with_digest = false);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  // The next bytes, inflated, valid until the next call; empty at the end.
  [[nodiscard]] std::string_view next();
  // The name for messages: the path, or "<stdin>".
  [[nodiscard]] const std::string& name() const;
  // (Compressed) bytes of the file read so far, and their SHA-256 in hex (only with_digest;
  // asserted).
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::string digest() const;

private:
  struct State;
  void list_archive();
  std::unique_ptr<State> state_;
};

// The whole content, for small files and logs.
[[nodiscard]] std::string read_text(const std::string& path,
                                    std::uint64_t max_bytes = kMostTextBytes);

// The system's text for an error number, as part of a sentence: "no such file or directory".
[[nodiscard]] std::string reason_text(int error);

// Resolves a `name` in `file` relative to the folder of `file`. Absolute names and "-" stay as they
// are, and so do all names if `file` is empty or "<stdin>".
[[nodiscard]] std::string relative_to(std::string_view file, std::string_view name);

} // namespace stepsim::io
