// peak FILE COMMAND...: runs the command and writes its wall seconds, peak
// megabytes and processor seconds to FILE.
// Small on purpose: the system counts the memory of the process that starts another one as the
// other's.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

int main(int count, char** arguments) {
  if (count < 3) {
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = vfork();
  if (child == 0) {
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::FILE* file = std::fopen(arguments[1], "w");
  if (file == nullptr) {
    return 1;
  }
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  std::fprintf(file, "%.9f %.3f %.6f\n", seconds.count(),
               static_cast<double>(usage.ru_maxrss) * 1024 / 1e6,
               of(usage.ru_utime) + of(usage.ru_stime));
  std::fclose(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
