// A library for LD_PRELOAD that sends its own process a signal at a moment that no clock decides:
// right after the write that makes a number of bytes full. Tests kill, stop and interrupt by it.
//   SIGNAL_AT="9 4000 out.jsonl"   signal 9 once 4000 bytes have gone into files whose name ends so
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::atomic<long> written{0};

void note(int file, long bytes) {
  const int error = errno;
  const char* wish = std::getenv("SIGNAL_AT");
  int signal = 0;
  long limit = 0;
  std::array<char, 256> ending{};
  std::array<char, 64> link{};
  std::array<char, 4096> name{};
  (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  if (bytes > 0 && wish != nullptr &&
      std::sscanf(wish, "%d %ld %255s", &signal, &limit, ending.data()) == 3 &&
      ::readlink(link.data(), name.data(), name.size() - 1) > 0 &&
      std::string_view(name.data()).ends_with(ending.data())) {
    const long before = written.fetch_add(bytes);
    if (before < limit && before + bytes >= limit) {
      ::kill(::getpid(), signal);
    }
  }
  errno = error;
}

} // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  const long done = ::syscall(SYS_write, file, bytes, size);
  note(file, done);
  return done;
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  const long done = ::syscall(SYS_pwrite64, file, bytes, size, offset);
  note(file, done);
  return done;
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite(file, bytes, size, offset);
}
}
