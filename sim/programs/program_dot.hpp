#pragma once
// A program as text for Graphviz: `dot -Tsvg`. Operations are boxes, one cluster per stream, in the
// order of the list; an edge leads from what is awaited to what waits, dashed with its distance if
// that is an operation of an earlier iteration. What binds the period is drawn bold.
#include <string>
#include <string_view>

#include "program/explain/binding_path.hpp"
#include "program/training_program.hpp"

namespace stepsim::study {

[[nodiscard]] std::string program_dot(const program::Program& program,
                                      const program::BindingPath& path, std::string_view name);

} // namespace stepsim::study
