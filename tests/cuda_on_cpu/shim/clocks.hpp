#pragma once
// Vector clocks: how far every stream had come, as far as somebody knows. Stream 0 is the host.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cuda_on_cpu {

class Clock {
public:
  [[nodiscard]] std::uint32_t at(std::size_t stream) const {
    return stream < counts_.size() ? counts_[stream] : 0;
  }
  void set(std::size_t stream, std::uint32_t count) {
    if (stream >= counts_.size()) {
      counts_.resize(stream + 1, 0);
    }
    counts_[stream] = count;
  }
  void join(const Clock& other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] > at(i)) {
        set(i, other.counts_[i]);
      }
    }
  }

private:
  std::vector<std::uint32_t> counts_;
};

// The operation number `count` of a stream.
struct Moment {
  std::size_t stream = 0;
  std::uint32_t count = 0;
};

// Who wrote and read each byte last.
class Memory {
public:
  // Records an access and returns what it conflicts with: "" = nothing, or the text of the access
  // before that `clock` does not know.
  std::string access(const void* begin, std::size_t bytes, bool writes, Moment moment,
                     const Clock& clock, const std::string& what);
  void forget(const void* begin, std::size_t bytes);

private:
  struct Piece {
    std::uintptr_t end = 0;
    std::vector<Moment> writers{}, readers{}; // writers: one or none
    std::string writer_text{}, reader_text{};
  };
  void split(std::uintptr_t at);
  std::map<std::uintptr_t, Piece> pieces_; // by begin
};

} // namespace cuda_on_cpu
