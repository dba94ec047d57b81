#pragma once
// Examines where an output goes before anything is written: the target behind links, the kind of
// file there, other processes that write it, and temporary files next to it. Only file_write.cpp
// uses it.
//
//     results/out.json -> ../big/out.json     the link is kept, its target is written
//     big/out.json.unfinished                 the new content until it is complete
//
// Locks are advisory (flock) and end with their process, so a killed process leaves nothing locked:
// its temporary file is not locked any more, and the next writer removes it. On file systems
// without locks, files are written as if there were no other process.
#include <string>
#include <sys/types.h>

namespace stepsim::io {

// A file descriptor that is closed by its destructor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool is_open() const { return value_ >= 0; }
  [[nodiscard]] int release();
  int close(); // result of close(2); 0 if already closed

private:
  int value_ = -1;
};

struct Target {
  enum class Kind {
    absent,
    regular,
    special,   // a device, a pipe, a socket: written directly
    descriptor // standard output, /dev/fd/N: `number`
  };
  Kind kind = Kind::absent;
  std::string path;   // path as given, or "standard output", for messages
  std::string place;  // path after all links are followed
  int number = -1;    // file descriptor for Kind::descriptor
  mode_t mode = 0666; // mode of the existing file; for a new file before the umask
  uid_t owner{};
  gid_t group{};

  // Throws SimulationError `out.json: write failed: No space left on device` for an errno, and
  // ClosedPipe (file_write.hpp) if standard output is a pipe without a reader.
  [[noreturn]] void fail(int error) const;
};

// The target of a path; "-" is standard output. Throws as fail() does for folders, for files that
// may not be written, and for cycles of links.
[[nodiscard]] Target find_target(const std::string& path);

// Shared: for a process that replaces a file, which others may replace, too. Exclusive: for the one
// writer of a growing file.
enum class Lock { shared, exclusive };
// Takes the lock, or throws SimulationError `out.jsonl: is being written by process 4711 (stepsim
// sweep ...)`.
void lock_or_fail(const Target& target, int descriptor, Lock lock);

struct Temporary {
  std::string path;
  Descriptor descriptor; // open and locked
};
// Creates a locked temporary file next to the target, with the mode of the target, and removes
// temporary files of dead processes. The lock stays when the file becomes the target; if it is
// shared, other processes may then replace the file in turn.
[[nodiscard]] Temporary make_temporary(const Target& target, Lock lock);
// Only removes temporary files of dead processes next to the target.
void remove_abandoned(const Target& target);

// sync_content() writes the content of an open file to the disk, sync_folder() the entry of the
// target in its folder.
void sync_content(const Target& target, int descriptor);
void sync_folder(const Target& target);

} // namespace stepsim::io
