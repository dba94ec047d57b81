#pragma once
// Reads a file of kind program (TRN 8.3). Operations refer to streams, groups and each other by
// id. A collective gets its time from the cluster in the file, which defines two groups of ranks:
//
//     node     the ranks of one node, over the network inside it
//     replica  one rank of every node, over the network between nodes. The G GPUs of a node belong
//              to G parts that share its R interfaces, so that bytes count ceil(G / R) times.
//
// A group of the file with one of these names replaces it; collectives over it are refused.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "programs/explain/sensitivity.hpp"
#include "programs/training_program.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

struct ProgramFile {
  std::string name;
  programs::Program program; // always valid
  programs::Evaluation evaluation;
  programs::LinkConstants links; // constants of the cluster's network; 0 without a cluster
  std::vector<std::string> warnings;
};

// Whether the tree has "kind": "program", or `operations` and no key `kind`.
[[nodiscard]] bool is_program(const io::Json& tree);

// Throws InputError with all problems (TRN 8.4).
[[nodiscard]] ProgramFile parse_program(const io::Json& tree, Files& files);

} // namespace stepsim::study
