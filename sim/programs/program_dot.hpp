#pragma once
// A program as text for Graphviz: `dot -Tsvg`. Operations are boxes, one cluster per stream, in the
// order of the list; an edge leads from what is awaited to what waits, dashed with its distance if
// that is an operation of an earlier iteration. The critical cycle is drawn bold.
#include <span>
#include <string>
#include <string_view>

#include "program/explain/binding_path.hpp"
#include "program/training_program.hpp"

namespace stepsim::study {

[[nodiscard]] std::string program_dot(const program::Program& program,
                                      std::span<const program::PathStep> critical,
                                      std::string_view name);

} // namespace stepsim::study
