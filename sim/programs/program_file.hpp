#pragma once
// A file of kind program (TRN 8.3), read. Operations name streams, groups and each other by their
// ids; a collective takes its time from the cluster of the file. Its groups of ranks:
//
//     node     the ranks of one node, over the network inside it
//     replica  one rank of every node, over the network between nodes. The G GPUs of a node are in
//     G
//              parts that share its R interfaces, so that bytes count ceil(G / R) times
#include <cstdint>
#include <string>
#include <vector>

#include "program/explain/program_evaluation.hpp"
#include "program/explain/sensitivity.hpp"
#include "program/training_program.hpp"
#include "scenario/files.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct ProgramFile {
  std::string name;
  program::Program program; // valid
  program::Evaluation evaluation;
  program::LinkConstants links; // of the cluster's network; 0 without one
  std::vector<std::string> warnings;
};

// True for a tree of kind program, also without the key `kind` if it has operations.
[[nodiscard]] bool is_program(const io::Json& tree);

// Throws InputError with all problems (TRN 8.4).
[[nodiscard]] ProgramFile parse_program(const io::Json& tree, Files& files);

} // namespace stepsim::study
