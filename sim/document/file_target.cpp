// Targets are found by following links one at a time, because the last one may point to a file that
// is yet to be made. The holder of a lock is looked up in /proc/locks by the number of the file.
#include "document/file_target.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "document/file.hpp"

namespace stepsim::io {

namespace {

namespace fs = std::filesystem;

// N of /dev/fd/N and the like, -1 for all other names: a descriptor is written where it stands, and
// not opened again from its beginning.
int descriptor_number(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") {
    return STDOUT_FILENO;
  }
  if (path == "/dev/stderr") {
    return STDERR_FILENO;
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.starts_with(folder)) {
      int number = -1;
      const char* const end = path.data() + path.size();
      const auto read = std::from_chars(path.data() + folder.size(), end, number);
      return read.ec == std::errc{} && read.ptr == end ? number : -1;
    }
  }
  return -1;
}

// The file that a chain of symbolic links ends at: replacing a link would cut others off.
std::string behind_links(const Target& target) {
  constexpr int kMostLinks = 40; // as the system
  fs::path place = target.path;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(place, error);
    if (error) {
      return place.string(); // no link, or nothing there
    }
    place = next.is_absolute() ? next : place.parent_path() / next;
  }
  target.fail(ELOOP);
}

// In the same folder, so that the rename stays on one file system.
std::string temporary_name(const Target& target, int number) {
  constexpr std::size_t kLongestName = 255;
  const fs::path place(target.place);
  const std::string ending =
      ".unfinished" + (number == 1 ? std::string() : "-" + std::to_string(number));
  std::string name = place.filename().string();
  name.resize(std::min(name.size(), kLongestName - ending.size()));
  return (place.parent_path() / (name + ending)).string();
}

// Whether the name still stands for the open file.
bool is_same(const std::string& path, int descriptor) {
  struct stat there {};
  struct stat here {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(descriptor, &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

// True if there was a file that a dead process of ours left, and it is gone.
bool remove_if_abandoned(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return false;
  }
  return is_same(path, file.get()) && ::unlink(path.c_str()) == 0;
}

// "4711 (stepsim sweep a.json -o out.jsonl)", or empty.
std::string holder(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return {};
  }
  std::array<char, 64> place{};
  (void)std::snprintf(place.data(), place.size(), "%02x:%02x:%llu", major(status.st_dev),
                      minor(status.st_dev), static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // 3: FLOCK  ADVISORY  WRITE 4711 fe:00:10952947 0 EOF
    std::istringstream words(line);
    std::string number, kind, advice, access, process, file;
    words >> number >> kind >> advice >> access >> process >> file;
    if (kind != "FLOCK" || file != place.data()) {
      continue;
    }
    std::ifstream command_file("/proc/" + process + "/cmdline", std::ios::binary);
    std::string command;
    for (std::string word; std::getline(command_file, word, '\0');) {
      command += (command.empty() ? "" : " ") + word;
    }
    return process + (command.empty() ? "" : " (" + base::shown_value(command, 200) + ")");
  }
  return {};
}

bool has_no_sync(int error) { return error == EINVAL || error == EROFS || error == ENOTSUP; }

// Takes the lock. False if another process holds it; true if the file system has no locks.
// Locks without waiting. An error other than "held by another" means that the file system knows no
// locks.
bool try_lock(int descriptor, Lock lock) {
  const int operation = (lock == Lock::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  int result = -1;
  do {
    result = ::flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

} // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    value_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(value_, -1); }

int Descriptor::close() { return value_ < 0 ? 0 : ::close(release()); }

void Target::fail(int error) const {
  const std::string folder = path.substr(0, path.rfind('/'));
  const bool no_folder = error == ENOENT && !std::filesystem::exists(folder);
  const std::string message =
      path + ": write failed: " +
      (no_folder ? "there is no folder " + folder : std::generic_category().message(error));
  if (error == EPIPE && number == STDOUT_FILENO) {
    throw ClosedPipe(message);
  }
  throw SimulationError(message);
}

// What is written later is decided here once: nothing is opened or changed.
Target find_target(const std::string& path) {
  Target target;
  target.path = path == "-" ? "standard output" : path;
  target.number = descriptor_number(path);
  if (target.number >= 0) {
    target.kind = Target::Kind::descriptor;
    return target;
  }
  target.place = behind_links(target);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) { // by its own name: links of /proc lead nowhere
    return target;
  }
  target.kind = S_ISREG(status.st_mode) ? Target::Kind::regular : Target::Kind::special;
  if (S_ISDIR(status.st_mode)) {
    target.fail(EISDIR);
  }
  if (target.kind == Target::Kind::special) {
    target.place = path;
  } else if (::access(path.c_str(), W_OK) != 0) {
    target.fail(errno);
  }
  target.mode = status.st_mode & 07777;
  target.owner = status.st_uid;
  target.group = status.st_gid;
  return target;
}

void lock_or_fail(const Target& target, int descriptor, Lock lock) {
  constexpr int kMostAttempts = 50; // a holder that nobody knows has just ended, or is far away
  for (int attempt = 1; !try_lock(descriptor, lock); ++attempt) {
    if (const std::string who = holder(descriptor); !who.empty() || attempt == kMostAttempts) {
      throw SimulationError(
          target.path + ": is being written by " +
          (who.empty() ? "another process, perhaps on another machine" : "process " + who));
    }
    (void)::usleep(2000);
  }
}

Temporary make_temporary(const Target& target, Lock lock) {
  constexpr int kMostNumbers = 1000; // writers of one target at the same time
  const bool exists = target.kind == Target::Kind::regular;
  int number = 1;
  while (true) {
    Temporary made;
    made.path = temporary_name(target, number);
    // Private until it has the owner and mode of the file that it replaces.
    made.descriptor = Descriptor(::open(made.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                                        exists ? 0600 : target.mode));
    if (!made.descriptor.is_open()) {
      const int error = errno;
      if (error != EEXIST || number == kMostNumbers) {
        target.fail(error);
      }
      number += remove_if_abandoned(made.path) ? 0 : 1;
      continue;
    }
    // Until it is locked, another process takes it for abandoned and removes it.
    if (!try_lock(made.descriptor.get(), lock) || !is_same(made.path, made.descriptor.get())) {
      continue;
    }
    if (exists) {
      (void)!::fchown(made.descriptor.get(), target.owner, target.group); // of others: by root only
      (void)::fchmod(made.descriptor.get(), target.mode);
    }
    while (number < kMostNumbers && remove_if_abandoned(temporary_name(target, ++number))) {}
    return made;
  }
}

// Numbers are given from 1 on, so that the first name without a file ends the search.
void remove_abandoned(const Target& target) {
  int number = 1;
  while (remove_if_abandoned(temporary_name(target, number))) {
    ++number;
  }
}

// A full disk may be reported only now.
void sync_content(const Target& target, int descriptor) {
  if (::fsync(descriptor) != 0 && !has_no_sync(errno)) {
    target.fail(errno);
  }
}

// The entry of a new name is content of its folder.
void sync_folder(const Target& target) {
  const fs::path parent = fs::path(target.place).parent_path();
  const Descriptor folder(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && ::fsync(folder.get()) != 0 && !has_no_sync(errno)) {
    target.fail(errno);
  }
}

} // namespace stepsim::io
