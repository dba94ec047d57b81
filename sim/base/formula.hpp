#pragma once
// Arithmetic over named variables, as a file writes it: "n * density * 8", "1e-5 + n / 4e9".
//
//     formula    numbers, variables, + - * / ( ), min(a, b, ..), max(a, b, ..), ceil(a), log2(a)
//
// Parsed once and evaluated often: a formula is a list of steps on a stack.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepsim::base {

class Formula {
public:
  Formula() : Formula(0) {}
  explicit Formula(double constant);

  // `variables`: the names that a formula may use; their order is that of the values. Otherwise the
  // text of what is wrong: `unknown variable "m" in "2 * m"; did you mean "n"?`.
  [[nodiscard]] static std::variant<Formula, std::string>
  parse(std::string_view text, std::span<const std::string_view> variables);

  // Not finite where a step divides by zero or takes the logarithm of what has none.
  [[nodiscard]] double value(std::span<const double> variables) const;
  [[nodiscard]] bool uses(std::size_t variable) const;
  // As it was written; of a constant, "".
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool operator==(const Formula&) const = default;

private:
  friend class FormulaReader;
  enum class Do { push, load, add, subtract, multiply, divide, negate, min, max, ceil, log2 };
  struct Step {
    Do what{};
    double number{};        // of push
    std::size_t variable{}; // of load
    [[nodiscard]] bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps_;
  std::string text_;
};

} // namespace stepsim::base
