#pragma once
// Writes a program as input for Graphviz (`dot -Tsvg`). Operations are boxes in the order of the
// list, with one cluster per stream. An edge leads from the awaited operation to the waiting one;
// if the awaited operation is of an earlier iteration, the edge is dashed and shows the distance.
// The binding path is drawn bold.
#include <string>
#include <string_view>

#include "programs/explain/binding_path.hpp"
#include "programs/training_program.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string program_dot(const programs::Program& program,
                                      const programs::BindingPath& path, std::string_view name);

} // namespace stepsim::cli
