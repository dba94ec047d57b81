#pragma once
// Period and exposed communication of a run, s, as the rows of TRN print them: "29 / 2".
#include <ostream>

#include "testing/tolerance.hpp"

namespace stepsim::study::testing {

struct Figures {
  double period{};
  double exposed{};
};
inline bool operator==(const Figures& a, const Figures& b) {
  return a.period == stepsim::testing::within(b.period, 1e-9) &&
         a.exposed == stepsim::testing::plus_minus(b.exposed, 1e-9);
}
inline std::ostream& operator<<(std::ostream& out, const Figures& figures) {
  return out << figures.period << " / " << figures.exposed;
}

} // namespace stepsim::study::testing
