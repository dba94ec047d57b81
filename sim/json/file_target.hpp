#pragma once
// Where an output goes, before anything is written: the target behind links, what kind of file is
// there, who else is writing it, and temporary files beside it. Only file_write.cpp uses this.
//
//     results/out.json -> ../big/out.json     a link stays one, the file behind it is written
//     big/out.json.unfinished                 the new content until it is complete
//
// Locks are advisory (flock) and end with their process, so nothing stays behind after a kill: the
// temporary file of a dead process is not locked, and the next writer removes it. File systems
// without locks are written as if nobody else were there.
#include <sys/types.h>

#include <string>

namespace stepsim::io {

// A descriptor that closes itself.
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
  int close(); // what close(2) returns; 0 if it is closed already

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
  std::string path;   // as given, or "standard output": for messages
  std::string place;  // behind all links
  int number = -1;    // of the descriptor
  mode_t mode = 0666; // of the file that exists; of a new one before the umask
  uid_t owner{};
  gid_t group{};

  // Throws SimulationError `out.json: write failed: No space left on device` for an errno;
  // ClosedPipe (file_write.hpp) where nobody reads standard output any more.
  [[noreturn]] void fail(int error) const;
};

// "-" is standard output. Throws for folders, for files that may not be written, and for circles of
// links.
[[nodiscard]] Target find_target(const std::string& path);

// Shared: whoever replaces a file lets others replace it too. Exclusive: a growing file has one
// writer.
enum class Lock { shared, exclusive };
// False if another process holds the file. True where the file system has no locks.
[[nodiscard]] bool try_lock(int descriptor, Lock lock);
// SimulationError `out.jsonl: is being written by process 4711 (stepsim sweep ...)`.
void lock_or_fail(const Target& target, int descriptor, Lock lock);

// A locked new file beside the target, with the mode of the target. Those that dead processes left
// are removed. The lock stays on the file when it has become the target: shared, other processes
// may replace it in their turn.
struct Temporary {
  std::string path;
  Descriptor descriptor;
};
[[nodiscard]] Temporary make_temporary(const Target& target, Lock lock);
// Removes only what dead processes left beside the target.
void remove_abandoned(const Target& target);

// To the disk: the content of a file, and the entry in its folder.
void sync_content(const Target& target, int descriptor);
void sync_folder(const Target& target);

} // namespace stepsim::io
