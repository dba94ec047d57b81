#include "base/shared_value.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

using stepsim::base::SharedValue;
using Text = SharedValue<std::string>;

TEST_CASE("shared value: equal values are one object, and others are not") {
  const Text a(std::string("a name that needs memory of its own"));
  const Text b(std::string("a name that needs memory of its own"));
  const Text other(std::string("other"));
  CHECK(&a.get() == &b.get());
  CHECK(a == b);
  CHECK(a != other);
  CHECK(a == "a name that needs memory of its own");
  CHECK(other != "a name");
  CHECK(sizeof(Text) == sizeof(void*));
  CHECK(Text() == "");
}

TEST_CASE("shared value: copied, moved and assigned values keep what they had") {
  Text first(std::string("first"));
  const Text copy = first;
  Text moved = std::move(first);
  CHECK(copy == moved);
  first = Text(std::string("again")); // a moved value may be assigned
  CHECK(first == "again");
  moved = first;
  const Text& itself = moved;
  moved = itself;
  CHECK(moved == "again");
  CHECK(copy == "first"); // its other owners are gone
}

TEST_CASE("shared value: threads share values and give them back") {
  std::vector<std::thread> threads;
  std::vector<std::vector<Text>> kept(4);
  for (std::size_t t = 0; t < kept.size(); ++t) {
    threads.emplace_back([&kept, t] {
      for (int i = 0; i < 2000; ++i) {
        kept[t].push_back(std::to_string(i % 7));
        if (i % 3 == 0) {
          kept[t].pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<Text>& each : kept) {
    CHECK(each == kept.front());
  }
}
