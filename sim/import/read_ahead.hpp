#pragma once
// Reads a file some chunks ahead in a thread of its own: reading, inflating and hashing then take
// no time from whoever uses the bytes. At most about 1 MB is ahead. Standard input, devices and
// pipes are read in the caller's thread, because a read that waits for a writer cannot be ended.
//     reader    | chunk 0 | chunk 1 | chunk 2 |
//     caller              | uses 0  | uses 1  | uses 2 |

#include "document/file.hpp"

namespace stepsim::io {

class ReadAhead {
public:
  // `source` outlives this object, and nobody else uses it before next() has returned the end.
  explicit ReadAhead(ByteSource& source);
  ~ReadAhead(); // ends the thread
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next bytes, valid until the next call; empty at the end. Errors of the source are thrown
  // behind the bytes before them, as without a thread.
  [[nodiscard]] std::string_view next();
  // ByteSource::file_bytes() as it was behind the bytes that next() returned last.
  [[nodiscard]] std::uint64_t file_bytes() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace stepsim::io
