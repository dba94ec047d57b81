// Recursive descent, one function per precedence: sum, product, sign, operand.
#include "base/formula.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::base {

// Reads one text. After the first problem nothing more is read: `problem_` is what parse returns.
class FormulaReader {
public:
  FormulaReader(std::string_view text, std::span<const std::string_view> variables)
      : text_(text), variables_(variables) {}

  std::variant<Formula, std::string> read() {
    sum();
    skip_blanks();
    if (problem_.empty() && at_ < text_.size()) {
      fail("unexpected \"" + shown_value(text_.substr(at_), 20) + "\"");
    }
    if (!problem_.empty()) {
      return problem_;
    }
    formula_.text_ = text_;
    formula_.steps_ = std::move(steps_);
    return std::move(formula_);
  }

private:
  using Do = Formula::Do;
  static constexpr int kDeepest = 100; // parentheses and signs inside each other

  void fail(const std::string& message) {
    if (problem_.empty()) {
      problem_ = message + " in \"" + shown_value(text_, 80) + "\"";
    }
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  // The next character if it is one of `any`; it is then read.
  std::optional<char> take(std::string_view any) {
    skip_blanks();
    if (at_ < text_.size() && any.find(text_[at_]) != any.npos && problem_.empty()) {
      return text_[at_++];
    }
    return std::nullopt;
  }
  void expect(char c) {
    if (!take({&c, 1})) {
      fail(std::string("\"") + c + "\" missing");
    }
  }
  void push(Do what) { steps_.push_back({what, 0, 0}); }

  void sum() {
    product();
    while (const auto sign = take("+-")) {
      product();
      push(*sign == '+' ? Do::add : Do::subtract);
    }
  }
  void product() {
    operand();
    while (const auto sign = take("*/")) {
      operand();
      push(*sign == '*' ? Do::multiply : Do::divide);
    }
  }
  void operand() {
    if (++depth_ > kDeepest) {
      fail("too many parentheses");
    }
    if (!problem_.empty()) {
      return;
    }
    if (take("-")) {
      operand();
      push(Do::negate);
    } else if (take("(")) {
      sum();
      expect(')');
    } else {
      name_or_number();
    }
    --depth_;
  }
  void name_or_number() {
    skip_blanks();
    const auto is_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double number{};
    if (const auto [rest, error] = std::from_chars(begin, end, number);
        error == std::errc{} && std::isfinite(number)) { // "inf" is a name
      at_ += static_cast<std::size_t>(rest - begin);
      steps_.push_back({Do::push, with_unit(number), 0});
      return;
    }
    const char* const stop = std::find_if_not(begin, end, is_name);
    const std::string_view name(begin, static_cast<std::size_t>(stop - begin));
    at_ += name.size();
    if (name.empty()) {
      fail(at_ == text_.size() ? "a value is missing at the end"
                               : "unexpected \"" + shown_value(text_.substr(at_), 20) + "\"");
    } else if (take("(")) {
      call(name);
    } else if (const auto found = std::ranges::find(variables_, name); found != variables_.end()) {
      steps_.push_back({Do::load, 0, static_cast<std::size_t>(found - variables_.begin())});
    } else {
      fail(unknown_word("variable", name, variables_));
    }
  }
  // 20us = 2e-5: a word after a number that is a unit of time, size or rate is part of it.
  double with_unit(double number) {
    const std::size_t begin = text_.find_first_not_of(" \t", at_);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::size_t end = std::min(begin, text_.size());
    while (end < text_.size() && is_letter(text_[end])) {
      ++end;
    }
    for (const QuantityKind kind : {QuantityKind::time, QuantityKind::size, QuantityKind::rate}) {
      const std::vector<std::string_view> all = units(kind);
      if (end > begin && std::ranges::find(all, text_.substr(begin, end - begin)) != all.end()) {
        at_ = end;
        const std::string one = "1" + std::string(text_.substr(begin, end - begin));
        return number * std::get<double>(parse_quantity(one, kind));
      }
    }
    return number;
  }
  // min and max of n values are n - 1 steps.
  void call(std::string_view name) {
    static constexpr std::array<std::string_view, 4> kNames{"min", "max", "ceil", "log2"};
    static constexpr std::array kSteps{Do::min, Do::max, Do::ceil, Do::log2};
    const auto* found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      fail(unknown_word("function", name, kNames));
      return;
    }
    const Do step = kSteps[static_cast<std::size_t>(found - kNames.begin())];
    const bool several = step == Do::min || step == Do::max;
    sum();
    int count = 1;
    for (; take(","); ++count) {
      sum();
      push(step);
    }
    expect(')');
    if (several ? count < 2 : count > 1) {
      fail(std::string(name) + (several ? " takes two values or more" : " takes one value"));
    }
    if (!several) {
      push(step);
    }
  }

  std::string_view text_;
  std::span<const std::string_view> variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
  std::vector<Formula::Step> steps_;
  Formula formula_;
};

Formula::Formula(double constant) : steps_{{Do::push, constant, 0}} {}

std::variant<Formula, std::string> Formula::parse(std::string_view text,
                                                  std::span<const std::string_view> variables) {
  return FormulaReader(text, variables).read();
}

double Formula::value(std::span<const double> variables) const {
  std::vector<double> stack;
  stack.reserve(steps_.size());
  for (const Step& step : steps_) {
    if (step.what == Do::push || step.what == Do::load) {
      stack.push_back(step.what == Do::push ? step.number : variables[step.variable]);
      continue;
    }
    assert(!stack.empty() && "every operation has its operands");
    const double right = stack.back();
    if (step.what == Do::negate || step.what == Do::ceil || step.what == Do::log2) {
      stack.back() = step.what == Do::negate ? -right
                     : step.what == Do::ceil ? std::ceil(right)
                                             : std::log2(right);
      continue;
    }
    stack.pop_back();
    double& left = stack.back();
    switch (step.what) {
    case Do::add:
      left += right;
      break;
    case Do::subtract:
      left -= right;
      break;
    case Do::multiply:
      left *= right;
      break;
    case Do::divide:
      left /= right;
      break;
    case Do::min:
      left = std::isnan(right) ? right : std::min(left, right);
      break;
    case Do::max:
      left = std::isnan(right) ? right : std::max(left, right);
      break;
    case Do::push:
    case Do::load:
    case Do::negate:
    case Do::ceil:
    case Do::log2:
      break;
    }
  }
  return stack.back();
}

bool Formula::uses(std::size_t variable) const {
  return std::ranges::any_of(
      steps_, [&](const Step& step) { return step.what == Do::load && step.variable == variable; });
}

} // namespace stepsim::base
