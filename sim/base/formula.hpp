#pragma once
// Arithmetic over named variables, as files contain it: "n * density * 8", "1e-5 + n / 4e9".
//
//     formula    numbers, variables, + - * / ( ), min(a, b, ..), max(a, b, ..), ceil(a), log2(a)
//
// A formula is parsed once into a list of steps on a stack, and evaluated often.
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

  // Returns the formula, or an error text such as `unknown variable "m" in "2 * m"; did you mean
  // "n"?`. `variables` are the names that the formula may use; value() takes their values in this
  // order.
  [[nodiscard]] static std::variant<Formula, std::string>
  parse(std::string_view text, std::span<const std::string_view> variables);

  // Returns the value. A division by zero or the logarithm of 0 gives an infinity, 0 / 0 or the
  // logarithm of a negative number NaN; a later min, max or division may turn them into a finite
  // number, so that a finite value does not prove that no such step occurred. `variables` must have
  // one value per name given to parse() (not checked).
  [[nodiscard]] double value(std::span<const double> variables) const;
  [[nodiscard]] bool uses(std::size_t variable) const;
  // The text that was parsed; empty for a constant.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool operator==(const Formula&) const = default;

private:
  friend class FormulaReader;
  enum class Do { push, load, add, subtract, multiply, divide, negate, min, max, ceil, log2 };
  struct Step {
    Do what{};
    double number{};        // used by `push`
    std::size_t variable{}; // used by `load`
    [[nodiscard]] bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps_;
  std::string text_;
};

} // namespace stepsim::base
