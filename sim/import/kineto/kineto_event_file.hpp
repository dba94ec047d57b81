#pragma once
// The events of a recording in a temporary file, which the destructor deletes, because traces of
// gigabytes do not fit into memory. Events are read in the order in which they were appended. The
// constructor, append() and each() throw SimulationError if the file cannot be made, written or
// read.
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>

#include "import/kineto/kineto_event.hpp"

namespace stepsim::io {

class KinetoEventFile {
public:
  KinetoEventFile();
  void append(const KinetoEvent& event);
  // Calls `visit` for every event, from the first; append() may follow.
  void each(const std::function<void(const KinetoEvent&)>& visit);
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::size_t size_{};
};

} // namespace stepsim::io
