// Gauss-Newton with the weights of the pseudo-Huber loss. Factors at a bound that would leave it
// stay there for a step; a step that is no gain is halved.
#include "study/fits.hpp"

#include "base/cholesky.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

constexpr double kDelta = 3;        // residuals beyond it count by their size, not by their square
constexpr double kFarthest = 2;     // standard deviations from the start
constexpr double kLeastShare = 0.1; // of communication in a step, above which it tells of links

using Shifts = std::vector<double>; // [fitted factor] standard deviations

struct FitRow {
  Scenario scenario;
  double measured_s{};
  bool communicates = false;
};

bool is_loss_of_computing(Factor factor) {
  return factor == Factor::l_0 || factor == Factor::l_1 || factor == Factor::l_low;
}

class Fit {
public:
  Fit(std::vector<FitRow> rows, FactorValues start) : rows_(std::move(rows)), start_(start) {
    for (std::size_t f = 0; f < kFactorCount; ++f) {
      const auto factor = static_cast<Factor>(f);
      if (start_[f].tau > 0 && std::ranges::any_of(rows_, [&](const FitRow& row) {
            return counts(row, factor) && std::ranges::find(row.scenario.conditions.used, factor) !=
                                              row.scenario.conditions.used.end();
          })) {
        factors_.push_back(factor);
      }
    }
  }

  [[nodiscard]] const std::vector<Factor>& factors() const { return factors_; }

  [[nodiscard]] FactorValues values_at(const Shifts& shifts) const {
    FactorValues values = start_;
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      FactorValue& value = values[static_cast<std::size_t>(factors_[f])];
      value.value = moved(factors_[f], value, shifts[f]);
    }
    return values;
  }

  [[nodiscard]] double time_at(const FitRow& row, const Shifts& shifts) const {
    Shifts counted = shifts;
    for (std::size_t f = 0; f < counted.size(); ++f) {
      counted[f] = counts(row, factors_[f]) ? counted[f] : 0;
    }
    return period_of(with_factors(row.scenario, values_at(counted)));
  }

  [[nodiscard]] double objective(const Shifts& shifts) const {
    double sum = 0;
    for (const FitRow& row : rows_) {
      const double r = residual(row, shifts) / kDelta;
      sum += kDelta * kDelta * (std::sqrt(1 + r * r) - 1);
    }
    for (const double z : shifts) {
      sum += z * z / 2;
    }
    return sum;
  }

  // Gradient and the matrix of the normal equations at `shifts`.
  struct Equations {
    std::vector<double> gradient, matrix;
  };
  [[nodiscard]] Equations equations(const Shifts& shifts) const {
    constexpr double kSlopeStep = 0.02; // standard deviations
    const std::size_t n = shifts.size();
    Equations out{shifts, std::vector<double>(n * n, 0.0)};
    for (std::size_t f = 0; f < n; ++f) {
      out.matrix[f * n + f] = 1;
    }
    for (const FitRow& row : rows_) {
      const double r = residual(row, shifts);
      const double weight = 1 / std::sqrt(1 + r * r / (kDelta * kDelta));
      std::vector<double> slope(n, 0.0);
      for (std::size_t f = 0; f < n; ++f) {
        if (counts(row, factors_[f])) {
          Shifts more = shifts;
          Shifts less = shifts;
          more[f] += kSlopeStep;
          less[f] -= kSlopeStep;
          slope[f] = (residual(row, more) - residual(row, less)) / (2 * kSlopeStep);
        }
      }
      for (std::size_t f = 0; f < n; ++f) {
        out.gradient[f] += weight * r * slope[f];
        for (std::size_t g = 0; g < n; ++g) {
          out.matrix[f * n + g] += weight * slope[f] * slope[g];
        }
      }
    }
    return out;
  }

private:
  [[nodiscard]] static bool counts(const FitRow& row, Factor factor) {
    return row.communicates || is_loss_of_computing(factor);
  }
  [[nodiscard]] double residual(const FitRow& row, const Shifts& shifts) const {
    return std::log(time_at(row, shifts) / row.measured_s) / kStepNoise;
  }

  std::vector<FitRow> rows_;
  FactorValues start_;
  std::vector<Factor> factors_;
};

// The direction of the next step; 0 for factors that would leave their bounds.
Shifts direction(const Fit::Equations& equations, const Shifts& shifts) {
  const std::size_t n = shifts.size();
  std::vector<double> matrix = equations.matrix;
  std::vector<double> right(n);
  for (std::size_t f = 0; f < n; ++f) {
    const double descent = -equations.gradient[f];
    const bool held =
        (shifts[f] >= kFarthest && descent > 0) || (shifts[f] <= -kFarthest && descent < 0);
    right[f] = held ? 0 : descent;
    for (std::size_t g = 0; held && g < n; ++g) {
      matrix[f * n + g] = matrix[g * n + f] = f == g ? 1 : 0;
    }
  }
  // Its diagonal is at least 1.
  return base::solve(*base::cholesky(std::move(matrix), n), right);
}

Shifts minimum(const Fit& fit) {
  constexpr int kSteps = 100;
  constexpr double kEnough = 1e-9; // standard deviations
  Shifts shifts(fit.factors().size(), 0.0);
  double least = fit.objective(shifts);
  for (int step = 0; step < kSteps; ++step) {
    const Shifts way = direction(fit.equations(shifts), shifts);
    double length = 1;
    double moved_by = 0;
    for (; length > 1e-6; length /= 2) {
      Shifts next = shifts;
      moved_by = 0;
      for (std::size_t f = 0; f < next.size(); ++f) {
        next[f] = std::clamp(next[f] + length * way[f], -kFarthest, kFarthest);
        moved_by = std::max(moved_by, std::abs(next[f] - shifts[f]));
      }
      const double value = fit.objective(next);
      if (value < least) {
        least = value;
        shifts = next;
        break;
      }
    }
    if (length <= 1e-6 || moved_by < kEnough) {
      break;
    }
  }
  return shifts;
}

FitRow fit_row(const MeasuredRow& measured, Files& files) {
  io::Json tree = measured.scenario;
  set_conditions(ConditionsKind::typical, tree);
  FitRow row{.scenario = parse_scenario(tree, files, Leftovers::ignore),
             .measured_s = measured.step_s};
  const Summary summary = run(row.scenario, Detail::summary).summary;
  row.communicates = summary.communication_s.value_or(0) > kLeastShare * step_of(summary);
  return row;
}

bool same_factors(const FactorValues& a, const FactorValues& b) {
  return std::ranges::equal(a, b, [](const FactorValue& x, const FactorValue& y) {
    return x.value == y.value && x.tau == y.tau;
  });
}

} // namespace

ConditionsFit fit_conditions(const io::Json& measured, Files& files) {
  MeasuredRows input = read_measured_rows(measured);
  std::vector<FitRow> rows;
  for (const MeasuredRow& each : input.rows) {
    rows.push_back(fit_row(each, files));
    if (!same_factors(rows.back().scenario.conditions.factors,
                      rows.front().scenario.conditions.factors)) {
      throw InputError(std::string(each.place->file()), each.place->pointer() + "/scenario",
                       "its conditions differ from those of the first row; fit each from a file "
                       "of its own");
    }
  }
  const FactorValues start = rows.front().scenario.conditions.factors;
  const Fit fit(rows, start);
  const Shifts shifts = minimum(fit);
  ConditionsFit out{.name = std::move(input.name),
                    .source = std::move(input.source),
                    .before = start,
                    .after = fit.values_at(shifts)};
  const std::size_t n = shifts.size();
  if (n > 0) {
    const std::vector<double> left =
        base::inverse(*base::cholesky(fit.equations(shifts).matrix, n));
    for (std::size_t f = 0; f < n; ++f) {
      constexpr double kRounding = 1e-12;
      const double variance = left[f * n + f];
      const Factor factor = fit.factors()[f];
      out.after[static_cast<std::size_t>(factor)].tau *= std::sqrt(variance);
      if (std::abs(shifts[f]) > kRounding || variance < 1 - kRounding) {
        out.fitted.push_back(factor);
      }
    }
  }
  const Shifts none(n, 0.0);
  for (const FitRow& row : rows) {
    out.rows.push_back({row.measured_s, fit.time_at(row, none), fit.time_at(row, shifts)});
  }
  return out;
}

io::Json conditions_tree(const ConditionsFit& fit) {
  io::Json factors{io::Object{}};
  const std::string evidence = "fitted to " + base::counted(std::ssize(fit.rows), "step");
  for (std::size_t f = 0; f < kFactorCount; ++f) {
    const auto factor = static_cast<Factor>(f);
    io::Json one = io::Object{{"value", fit.after[f].value}, {"tau", fit.after[f].tau}};
    if (std::ranges::find(fit.fitted, factor) != fit.fitted.end()) {
      one.set("evidence", evidence);
    }
    factors.set(std::string(kFactors[factor]), std::move(one));
  }
  io::Json tree = io::Object{{"schema_version", 1}, {"kind", "conditions"}};
  io::set_given(tree, "name", fit.name);
  io::set_given(tree, "note", fit.source);
  tree.set("factors", std::move(factors));
  return tree;
}

} // namespace stepsim::study
