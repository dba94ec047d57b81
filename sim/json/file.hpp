#pragma once
// Files read as streams of bytes: by chunks, and gzip is inflated (recognised by its first two
// bytes, 1f 8b, not by name), so that memory does not grow with the file and a bomb ends in an
// error. Of a tar archive with one file, packed or not, that file is read. file_write.hpp writes.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stepsim::io {

inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{8} << 30;
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{256} << 20; // kept in memory as text

// Throws InputError `x.json: cannot read: is a directory`, `x.json.gz: gzip stream ends at byte N`
// (N counts compressed bytes), `... larger than N bytes` (max_bytes, which counts inflated bytes),
// `x.tgz: tar archive of 2 files: unpack it and give one of them: a.json, b.json`.
// Path "-" is standard input.
class ByteSource {
public:
  explicit ByteSource(const std::string& path, std::uint64_t max_bytes = kDefaultMaxBytes,
                      bool with_digest = false);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  // The next bytes, inflated; empty at the end. Valid until the next call.
  [[nodiscard]] std::string_view next();
  // The name for messages: the path, or "<stdin>".
  [[nodiscard]] const std::string& name() const;
  // Bytes of the file itself so far (compressed), and their SHA-256 in hex (with_digest; asserted).
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::string digest() const;

private:
  struct State;
  void list_archive();
  std::unique_ptr<State> state_;
};

// The whole content; for small files and logs.
[[nodiscard]] std::string read_text(const std::string& path,
                                    std::uint64_t max_bytes = kMostTextBytes);

// What the system says of an error number, as part of a sentence: "no such file or directory".
[[nodiscard]] std::string reason_text(int error);

// `name` as it is meant inside `file`: relative to that file's folder. Absolute names, "-", and all
// names where `file` is empty or "<stdin>" stay as they are.
[[nodiscard]] std::string relative_to(std::string_view file, std::string_view name);

} // namespace stepsim::io
