#include "base/words.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace stepsim;

namespace {

enum class Size : std::uint8_t { small, large, automatic };
constexpr auto kSizes =
    base::words<Size>({{Size::small, "small"}, {Size::large, "large"}, {Size::automatic, "auto"}});

// A value that has no enumerator, and a last one that a table must not lack.
static_assert(base::is_enumerator<Size::automatic>());
static_assert(!base::is_enumerator<static_cast<Size>(3)>());

} // namespace

TEST_CASE("words: from an enumerator to its word and back") {
  CHECK(kSizes[Size::large] == "large");
  CHECK(kSizes[Size::automatic] == "auto");
  CHECK(kSizes.find("auto") == Size::automatic);
  CHECK_FALSE(kSizes.find("Auto").has_value());
  CHECK_FALSE(kSizes.find("").has_value());
  CHECK(kSizes.all().size() == 3);
  constexpr auto first = kSizes.first<2>();
  CHECK(first.find("large") == Size::large);
  CHECK_FALSE(first.find("auto").has_value());
}
