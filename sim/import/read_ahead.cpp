// Chunks go round in a ring of slots, which the thread fills and the caller uses in turn.
#include "import/read_ahead.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <filesystem>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

namespace stepsim::io {

namespace {

constexpr std::ptrdiff_t kSlots = 4; // of 256 KiB at most, with the one that the caller uses

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
  std::array<Chunk, kSlots> ring;
  std::counting_semaphore<kSlots + 1> room{kSlots}; // slots to fill, and one to end the thread
  std::counting_semaphore<kSlots> filled{0};
  std::size_t taken = 0;        // slots that the caller has taken so far
  std::uint64_t file_bytes = 0; // behind what next() returned last
  std::atomic<bool> stopped = false;

  // Until the end, an error, or the caller wants no more.
  void read() {
    bool ended = false;
    for (std::size_t i = 0; !ended; ++i) {
      room.acquire();
      if (stopped) {
        return;
      }
      Chunk& chunk = ring[i % ring.size()];
      try {
        chunk.bytes.assign(source.next());
      } catch (...) {
        chunk.bytes.clear();
        chunk.error = std::current_exception();
      }
      chunk.file_bytes = source.file_bytes();
      ended = chunk.bytes.empty();
      filled.release();
    }
  }

  // Gives back the slot that the caller has used.
  Chunk& take() {
    if (taken > 0) {
      room.release();
    }
    filled.acquire();
    Chunk& chunk = ring[taken++ % ring.size()];
    file_bytes = chunk.file_bytes;
    if (chunk.bytes.empty()) {
      reader.join();
    }
    return chunk;
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
    state_->stopped = true;
    state_->room.release();
    state_->reader.join();
  }
}

// Behind the end, and without a thread, the source itself is asked.
std::string_view ReadAhead::next() {
  if (!state_->reader.joinable()) {
    const std::string_view bytes = state_->source.next();
    state_->file_bytes = state_->source.file_bytes();
    return bytes;
  }
  State::Chunk& chunk = state_->take();
  if (chunk.error) {
    std::rethrow_exception(std::exchange(chunk.error, nullptr));
  }
  return chunk.bytes;
}

std::uint64_t ReadAhead::file_bytes() const { return state_->file_bytes; }

} // namespace stepsim::io
