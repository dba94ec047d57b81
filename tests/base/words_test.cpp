#include "base/words.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace stepsim;

namespace {

struct Shirt {
  enum class Size : std::uint8_t { small, large, automatic };
};
using Size = Shirt::Size;
constexpr auto kNames = base::words<Shirt::Size>();
constexpr auto kSizes = base::words<Shirt::Size>({{Size::automatic, "auto"}});

enum class Single { alone };

// A value without an enumerator has no name.
static_assert(base::enumerator_name<Size::automatic>() == "automatic");
static_assert(base::enumerator_name<static_cast<Size>(3)>().empty());
static_assert(base::enumerators<Size>() == 3);
static_assert(base::enumerators<Single>() == 1);

} // namespace

TEST_CASE("words: a word is the name of its enumerator unless the table gives another") {
  CHECK(kNames[Size::small] == "small");
  CHECK(kNames[Size::automatic] == "automatic");
  CHECK(kNames.all().size() == 3);
  CHECK(kSizes[Size::small] == "small");
  CHECK(kSizes[Size::automatic] == "auto");
  CHECK(base::words<Single>().find("alone") == Single::alone);
}

TEST_CASE("words: from an enumerator to its word and back") {
  CHECK(kSizes[Size::large] == "large");
  CHECK(kSizes[Size::automatic] == "auto");
  CHECK(kSizes.find("auto") == Size::automatic);
  CHECK_FALSE(kSizes.find("automatic").has_value());
  CHECK_FALSE(kSizes.find("Auto").has_value());
  CHECK_FALSE(kSizes.find("").has_value());
  CHECK(kSizes.all().size() == 3);
  constexpr auto first = kSizes.first<2>();
  CHECK(first.find("large") == Size::large);
  CHECK_FALSE(first.find("auto").has_value());
}
