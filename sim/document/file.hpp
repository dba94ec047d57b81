#pragma once
// Reads files as streams of bytes, in chunks, so that memory does not grow with the file. gzip is
// inflated (recognised by its first two bytes, 1f 8b, not by name), with a limit on the inflated
// size. For a tar archive with one file, compressed or not, the content of that file is read.
// file_write.hpp writes files.
#include <cstdint>
#include <memory>

#include "base/error.hpp"

namespace stepsim::io {

inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{8} << 30;
// Limit for texts that are kept in memory.
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{256} << 20;

// Reads the file at a path, or standard input for "-". Throws InputError, for example
//   `x.json: cannot read: is a directory`,
//   `x.json.gz: gzip stream ends at byte N`, N in compressed bytes,
//   `... larger than N bytes`, N = max_bytes in inflated bytes,
//   `x.tgz: tar archive of 2 files: unpack it and give the files that belong together: a.json,
//   b.json`.
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

// Writes files so that a failed command leaves nothing behind: the content goes to a temporary file
// next to the target and replaces the target when it is completely on the disk. Growing files, such
// as the records of a sweep, are written in place instead.

// Standard output is a pipe without a reader, as after `stepsim keys | head`.
class ClosedPipe : public SimulationError {
  using SimulationError::SimulationError;
};

// The output file of every command. Links are followed and kept, and the mode of a file is kept.
// Anything but a regular file (/dev/null, a pipe, "-" for standard output) is written directly. A
// name ending in .gz is compressed, except with Mode::grow. Throws SimulationError `out.json: write
// failed: No space left on device`, and `out.jsonl: is being written by process 4711 (stepsim sweep
// ...)` if another process has the file open with Mode::grow.
class OutputFile {
public:
  enum class Mode {
    replace, // a temporary file becomes the target in commit()
    grow,    // locked, its content is kept; every write appends by a system call
  };
  explicit OutputFile(const std::string& path, Mode mode = Mode::replace);
  ~OutputFile(); // without commit() the temporary file is removed
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  // Throws SimulationError if another program has cut or removed a file with Mode::grow; commit()
  // does the same.
  void require_whole() const;
  void commit(); // puts the content in place, on the disk, and closes the file; call it once
  [[nodiscard]] const std::string& name() const; // for messages
  [[nodiscard]] std::uint64_t written() const;   // bytes passed to the system so far

  // The current size of the file that is written (with Mode::replace the temporary one), in bytes,
  // and its reduction to `size` bytes. With Mode::replace, call cut() only before the first write,
  // because later writes may still be in a buffer (asserted). For anything but a regular file,
  // size() is 0 and cut() does nothing.
  [[nodiscard]] std::uint64_t size() const;
  void cut(std::uint64_t size);
  void sync(); // after it, written data survives a power failure
  // The next two are for regular files with Mode::grow (asserted). begin_rewrite() returns an empty
  // growing file next to this one, to which the caller writes all of the new content; it is removed
  // if it is dropped. end_rewrite() puts it in place of this file, whose old content is then gone,
  // and this object writes to it from then on.
  [[nodiscard]] OutputFile begin_rewrite() const;
  void end_rewrite(OutputFile&& copy);

private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

void write_file(const std::string& path, std::string_view content);

// Whether both names lead to the same existing regular file.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);
// Whether the path is a regular file, whose content must be protected; not a pipe or /dev/null.
[[nodiscard]] bool is_regular(const std::string& path);
// Whether OutputFile with Mode::replace changes the path all at once, in commit(). False for
// standard output, devices and pipes, whose readers see every part.
[[nodiscard]] bool is_replaceable(const std::string& path);

} // namespace stepsim::io
