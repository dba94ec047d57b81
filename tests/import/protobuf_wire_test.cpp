// The wire format of protocol buffers: numbers, fields, and bytes that end early.
#include "import/chakra/chakra_nodes.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "import/protobuf_builder.hpp"

using namespace stepsim::io;

TEST_CASE("wire: varints of every length come back") {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{300},
        std::uint64_t{1} << 35, std::numeric_limits<std::uint64_t>::max()}) {
    const std::string bytes = wire::varint(value) + "x";
    std::string_view rest = bytes;
    CHECK(take_varint(rest) == value);
    CHECK(rest == "x");
  }
}

TEST_CASE("wire: a varint that ends early or has more than 64 bits is none") {
  for (const std::string& bytes : {std::string(), std::string("\x80"), std::string(10, '\xff'),
                                   std::string(9, '\xff') + "\x02", std::string(20, '\x80')}) {
    std::string_view rest = bytes;
    CHECK_FALSE(take_varint(rest).has_value());
  }
}

TEST_CASE("wire: fields in their order, with their values") {
  const std::string message = wire::number(1, 150) + wire::text(2, "testing") + "\x1d" +
                              std::string("\1\2\3\4", 4) + "\x21" +
                              std::string("\1\0\0\0\0\0\0\x80", 8);
  std::vector<WireField> fields;
  each_field(message, [&](const WireField& field) { fields.push_back(field); });
  REQUIRE(fields.size() == 4);
  CHECK(fields[0].number == 1);
  CHECK(fields[0].value == 150);
  CHECK(fields[1].bytes == "testing");
  CHECK(fields[2].value == 0x04030201);
  CHECK(fields[3].number == 4);
  CHECK(fields[3].value == 0x8000000000000001);
}

TEST_CASE("wire: lengths beyond the message, groups and field 0 are damage") {
  for (const std::string& message :
       {std::string("\x12\x05"
                    "abc"),
        std::string("\x0b"), std::string("\x0c"), std::string("\0\1", 2),
        std::string("\x09"
                    "abc"),
        std::string("\x0d"
                    "abc"),
        std::string("\x08"), std::string("\x0f\1"),
        "\x12" + wire::varint(std::numeric_limits<std::uint64_t>::max())}) {
    CHECK_THROWS_AS(each_field(message, [](const WireField&) {}), ChakraProblem);
  }
}

TEST_CASE("wire: zigzag numbers") {
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(1) == -1);
  CHECK(zigzag(2) == 1);
  CHECK(zigzag(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::int64_t>::min());
}
