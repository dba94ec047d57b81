#include "collectives/collective.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

std::string_view name(Op op) { return kOps[op]; }
std::string_view name(AlgorithmId algorithm) { return collectives::algorithm(algorithm).name; }
std::string_view name(Method method) { return kMethods[method]; }
std::optional<Method> parse_method(std::string_view word) { return kMethods.find(word); }
std::optional<Op> parse_op(std::string_view word) { return kOps.find(word); }
std::optional<AlgorithmId> parse_algorithm(std::string_view word) { return find_algorithm(word); }

bool Collective::homogeneous() const { return uniform_cost(*this).has_value(); }

} // namespace stepsim::collectives
