#pragma once
// Files written so that a failed command leaves nothing behind: content goes to a temporary file
// beside the target, which takes the target's place when all of it is on the disk.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace stepsim::io {

// Nobody reads standard output any more, as after `stepsim keys | head`.
class ClosedPipe : public SimulationError {
  using SimulationError::SimulationError;
};

// The one way in which every command writes a file. Links are followed and stay, the mode of a file
// is kept, and what is no regular file (/dev/null, a pipe, "-" for standard output) is written
// directly. Content of a name ending in .gz is compressed, except by Mode::grow. Throws
// SimulationError `out.json: write failed: No space left on device`, and `out.jsonl: is being
// written by process 4711 (stepsim sweep ...)` where another process has the file open as
// Mode::grow.
class OutputFile {
public:
  enum class Mode {
    replace, // a temporary file beside the target becomes the target in commit()
    grow,    // the file itself, locked, its content kept; every write is a system call at its end
  };
  explicit OutputFile(const std::string& path, Mode mode = Mode::replace);
  ~OutputFile(); // without commit() the temporary file is removed
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  void commit();                                 // to the disk, close, rename; once
  [[nodiscard]] const std::string& name() const; // for messages
  [[nodiscard]] std::uint64_t written() const;   // bytes given to the system so far

  // At any place of a regular file whose name does not end in .gz; may go beyond its end.
  void write_at(std::uint64_t offset, std::string_view bytes);

  // `size` is 0 for what is no regular file, which is not cut either. Nothing may wait for a write.
  [[nodiscard]] std::uint64_t size() const;
  void cut(std::uint64_t size);
  void sync(); // what is written so far survives a power failure
  // The next two are for Mode::grow.
  // A growing copy beside the file. It takes the file's place in end_rewrite, and this object goes
  // on with it; dropped before, it leaves nothing.
  [[nodiscard]] OutputFile begin_rewrite() const;
  void end_rewrite(OutputFile&& copy);

private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

void write_file(const std::string& path, std::string_view content);

// Whether both names lead to one regular file that exists.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);
// Whether a file with content to protect is there: pipes and /dev/null have none.
[[nodiscard]] bool is_regular(const std::string& path);
// Whether a result appears there all at once: not for standard output, devices and pipes, whose
// readers see every piece.
[[nodiscard]] bool is_replaceable(const std::string& path);

} // namespace stepsim::io
