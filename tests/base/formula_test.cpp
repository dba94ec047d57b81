#include "base/formula.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr std::array<std::string_view, 3> kVariables{"n", "P", "density"};
constexpr std::array<double, 3> kValues{1000, 16, 0.25};

double value(std::string_view text) {
  const auto parsed = base::Formula::parse(text, kVariables);
  REQUIRE_MESSAGE(std::holds_alternative<base::Formula>(parsed), std::string(text));
  return std::get<base::Formula>(parsed).value(kValues);
}

std::string problem(std::string_view text) {
  const auto parsed = base::Formula::parse(text, kVariables);
  const std::string* message = std::get_if<std::string>(&parsed);
  return message == nullptr ? "" : *message;
}

} // namespace

TEST_CASE("formula: products before sums, equal ones from the left, signs first") {
  CHECK(value("2 + 3 * 4") == 2 + 3 * 4);
  CHECK(value("(2 + 3) * 4") == (2 + 3) * 4);
  CHECK(value("20 - 3 - 4") == 20 - 3 - 4);
  CHECK(value("64 / 4 / 2") == 64.0 / 4 / 2);
  CHECK(value("-2 * -3 - -1") == 6 + 1);
  CHECK(value("1e-3*n+.5") == 1e-3 * 1000 + .5);
  CHECK(value(" n ") == 1000);
}

TEST_CASE("formula: variables and functions") {
  CHECK(value("n * density * 8 + 4") == 1000 * 0.25 * 8 + 4);
  CHECK(value("ceil(log2(P)) * 2") == std::ceil(std::log2(16.0)) * 2);
  CHECK(value("ceil(log2(P + 1))") == 5);
  CHECK(value("min(n, P, 7)") == 7);
  CHECK(value("max(n / P, 7, -n)") == 1000.0 / 16);
  CHECK(std::isinf(value("n / (P - 16)")));
  CHECK(std::isnan(value("min(1, log2(-1))"))); // on either side
  CHECK(std::isnan(value("max(log2(-1), 1)")));
  const auto parsed = std::get<base::Formula>(base::Formula::parse("n * 2", kVariables));
  CHECK(parsed.uses(0));
  CHECK_FALSE(parsed.uses(2));
  CHECK(parsed.text() == "n * 2");
  CHECK(base::Formula(2.5).value({}) == 2.5);
  CHECK(base::Formula().value({}) == 0);
}

TEST_CASE("formula: numbers may have units of time, size and rate") {
  CHECK(value("20us + 4B * n / 40 GBps") == within(20e-6 + 4 * 1000 / 40e9, 1e-15));
  CHECK(value("n * 8 / 100Gbps") == 8000 / 12.5e9);
  CHECK(value("2 MiB") == 2097152);
  CHECK(value("1.5e-3ms") == within(1.5e-6, 1e-15));
  CHECK(problem("4 n") == "unexpected \"n\" in \"4 n\"");
  CHECK(problem("4us us") == "unexpected \"us\" in \"4us us\"");
}

TEST_CASE("formula: what is wrong is named, with the formula") {
  CHECK(problem("2 * densty") == "unknown variable \"densty\"; did you mean \"density\"? in "
                                 "\"2 * densty\"");
  CHECK(problem("sqrt(n)").starts_with("unknown function \"sqrt\""));
  CHECK(problem("") == "a value is missing at the end in \"\"");
  CHECK(problem("2 +") == "a value is missing at the end in \"2 +\"");
  CHECK(problem("(n") == "\")\" missing in \"(n\"");
  CHECK(problem("n n") == "unexpected \"n\" in \"n n\"");
  CHECK(problem("n)") == "unexpected \")\" in \"n)\"");
  CHECK(problem("* 2") == "unexpected \"* 2\" in \"* 2\"");
  CHECK(problem("2 ^ 3") == "unexpected \"^ 3\" in \"2 ^ 3\"");
  CHECK(problem("min(n)") == "min takes two values or more in \"min(n)\"");
  CHECK(problem("ceil(n, 2)").starts_with("ceil takes one value"));
  CHECK(problem("nan").starts_with("unknown variable"));
  CHECK(problem("inf").starts_with("unknown variable"));
  CHECK(problem("1e999 * n") != "");
  for (const char deep : {'(', '-'}) {
    std::string text(500, deep);
    text += 'n';
    CHECK(problem(text).starts_with("too many parentheses"));
  }
}
