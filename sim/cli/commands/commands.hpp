#pragma once
// The table of commands: what exists, in the order and groups of `stepsim --help`. Adding one = one
// .cpp with a function below and one row in commands.cpp.
#include <span>
#include <string_view>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

struct Command {
  std::string_view group;
  std::string_view name;
  std::string_view summary; // one line
  int (*run)(const Invocation&);
};

[[nodiscard]] std::span<const Command> commands();

int breakeven(const Invocation& invocation);
int check(const Invocation& invocation);
int collective(const Invocation& invocation);
int compare(const Invocation& invocation);
int converge(const Invocation& invocation);
int flows(const Invocation& invocation);
int import_files(const Invocation& invocation);
int keys(const Invocation& invocation);
int merge(const Invocation& invocation);
int models(const Invocation& invocation);
int plan(const Invocation& invocation);
int run(const Invocation& invocation);
int schema(const Invocation& invocation);
int semantics(const Invocation& invocation);
int solve(const Invocation& invocation);
int sweep(const Invocation& invocation);
int topologies(const Invocation& invocation);
int tune(const Invocation& invocation);

} // namespace stepsim::cli
