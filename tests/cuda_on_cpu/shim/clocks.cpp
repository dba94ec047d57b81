#include "shim/clocks.hpp"

#include <algorithm>

namespace cuda_on_cpu {

void Memory::split(std::uintptr_t at) {
  const auto next = pieces_.lower_bound(at);
  if (next == pieces_.begin() || (next != pieces_.end() && next->first == at)) {
    return;
  }
  const auto piece = std::prev(next);
  if (piece->second.end > at) {
    Piece right = piece->second;
    piece->second.end = at;
    pieces_.emplace(at, std::move(right));
  }
}

std::string Memory::access(const void* begin, std::size_t bytes, bool writes, Moment moment,
                           const Clock& clock, const std::string& what) {
  if (bytes == 0) {
    return "";
  }
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + bytes;
  split(first);
  split(last);
  for (std::uintptr_t at = first; at < last;) { // memory without an access gets a piece
    const auto next = pieces_.lower_bound(at);
    if (next != pieces_.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    const std::uintptr_t end = next != pieces_.end() ? std::min(next->first, last) : last;
    pieces_.emplace(at, Piece{end});
    at = end;
  }
  const auto known = [&](const Moment& before) { return clock.at(before.stream) >= before.count; };
  std::string conflict;
  for (auto at = pieces_.lower_bound(first); at != pieces_.end() && at->first < last; ++at) {
    Piece& piece = at->second;
    if (!std::ranges::all_of(piece.writers, known)) {
      conflict = piece.writer_text;
    }
    if (writes) {
      if (!std::ranges::all_of(piece.readers, known)) {
        conflict = piece.reader_text;
      }
      piece.writers = {moment};
      piece.writer_text = what;
      piece.readers.clear();
    } else {
      std::erase_if(piece.readers,
                    [&](const Moment& each) { return each.stream == moment.stream; });
      piece.readers.push_back(moment);
      piece.reader_text = what;
    }
  }
  return conflict;
}

void Memory::forget(const void* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  split(first);
  split(first + bytes);
  pieces_.erase(pieces_.lower_bound(first), pieces_.lower_bound(first + bytes));
}

} // namespace cuda_on_cpu
