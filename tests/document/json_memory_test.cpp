// A tree is copied whole or not at all where memory ends: every allocation of this program can be
// refused.
#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "document/json.hpp"

namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();
int allocations_left = kNoLimit;

} // namespace

void* operator new(std::size_t size) {
  if (allocations_left == 0) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size)) {
    allocations_left -= allocations_left < kNoLimit ? 1 : 0;
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace stepsim::io {
namespace {

const std::string kLong(100, 'x'); // longer than a string without memory of its own

// Calls `act` with room for 0, 1, 2, .. allocations until it succeeds. Returns the failures.
template <class Act> int failures(Act act) {
  for (int room = 0;; ++room) {
    allocations_left = room;
    try {
      act();
      allocations_left = kNoLimit;
      return room;
    } catch (const std::bad_alloc&) {
      allocations_left = kNoLimit;
    }
  }
}

TEST_CASE("where memory ends, a tree is not copied and nothing else is lost") {
  const Json tree(Object{
      {"text", kLong},
      {"list", Array{1, kLong, Array{nullptr, 2.5, kLong}, Object{}}},
      {"object", Object{{kLong, true}, {"number", 7}}},
  });
  bool equal = false;
  CHECK(failures([&] { equal = Json(tree) == tree; }) > 6);
  CHECK(equal);
  for (const Json& old : {Json(kLong), Json(Array{1, 2, kLong}), tree, Json(nullptr)}) {
    Json copy = old;
    bool whole = true;
    CHECK(failures([&] {
            whole = whole && copy == old;
            copy = tree;
          }) > 6);
    CHECK(whole);
    CHECK(copy == tree);
  }
}

} // namespace
} // namespace stepsim::io
