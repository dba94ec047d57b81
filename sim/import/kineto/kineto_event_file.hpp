#pragma once
// The events of a recording in a temporary file, which the destructor deletes, because traces of
// gigabytes do not fit into memory. Events are read in the order in which they were appended. The
// constructor, append() and each() throw SimulationError if the file cannot be made, written or
// read.
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "import/kineto/kineto_event.hpp"

namespace stepsim::io {

class KinetoEventFile {
public:
  KinetoEventFile();
  void append(const KinetoEvent& event) {
    last_.push_back(event);
    ++size_;
    if (last_.size() == kTogether) {
      write();
    }
  }
  // Calls `visit` for every event, from the first; append() may follow.
  void each(const std::function<void(const KinetoEvent&)>& visit);
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  static constexpr std::size_t kTogether = 1024; // events that are written and read at a time
  void write();
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<KinetoEvent> last_; // not in the file yet
  std::size_t size_{};
};

} // namespace stepsim::io
