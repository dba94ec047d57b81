#include "import/read_ahead.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stepsim::io {

namespace {

constexpr std::size_t kChunksAhead = 3; // of 256 KiB at most

} // namespace

struct ReadAhead::State {
  struct Chunk {
    std::string bytes; // empty: the end, or an error
    std::uint64_t file_bytes{};
    std::exception_ptr error;
  };

  explicit State(ByteSource& from) : source(from) {}

  ByteSource& source;
  std::thread reader; // not joinable: the caller's thread reads
  Chunk current;      // what next() returned last

  std::mutex mutex; // guards all below
  std::condition_variable filled, room;
  std::deque<Chunk> ready;
  std::vector<std::string> spare; // memory of chunks that were used
  bool stopped = false;

  // Until the end, an error, or the caller wants no more.
  void read() {
    bool ended = false;
    do {
      Chunk chunk;
      {
        std::unique_lock lock(mutex);
        room.wait(lock, [&] { return stopped || ready.size() < kChunksAhead; });
        if (stopped) {
          return;
        }
        if (!spare.empty()) {
          chunk.bytes = std::move(spare.back());
          spare.pop_back();
        }
      }
      try {
        chunk.bytes.assign(source.next());
      } catch (...) {
        chunk.bytes.clear();
        chunk.error = std::current_exception();
      }
      chunk.file_bytes = source.file_bytes();
      ended = chunk.bytes.empty();
      {
        const std::scoped_lock lock(mutex);
        ready.push_back(std::move(chunk));
      }
      filled.notify_one();
    } while (!ended);
  }

  void take() {
    {
      std::unique_lock lock(mutex);
      filled.wait(lock, [&] { return !ready.empty(); });
      if (current.bytes.capacity() > 0) {
        spare.push_back(std::move(current.bytes));
      }
      current = std::move(ready.front());
      ready.pop_front();
    }
    room.notify_one();
    if (current.bytes.empty()) {
      reader.join();
    }
  }
};

ReadAhead::ReadAhead(ByteSource& source) : state_(std::make_unique<State>(source)) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(source.name(), error)) {
    return;
  }
  try {
    state_->reader = std::thread([state = state_.get()] { state->read(); });
  } catch (const std::system_error&) {} // no more threads
}

ReadAhead::~ReadAhead() {
  if (state_->reader.joinable()) {
    {
      const std::scoped_lock lock(state_->mutex);
      state_->stopped = true;
    }
    state_->room.notify_one();
    state_->reader.join();
  }
}

// Behind the end, and without a thread, the source itself is asked.
std::string_view ReadAhead::next() {
  if (!state_->reader.joinable()) {
    const std::string_view bytes = state_->source.next();
    state_->current.file_bytes = state_->source.file_bytes();
    return bytes;
  }
  state_->take();
  if (state_->current.error) {
    std::rethrow_exception(std::exchange(state_->current.error, nullptr));
  }
  return state_->current.bytes;
}

std::uint64_t ReadAhead::file_bytes() const { return state_->current.file_bytes; }

} // namespace stepsim::io
