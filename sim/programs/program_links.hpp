#pragma once
// The cluster of a program file: how long its collectives take.
#include <cstdint>
#include <optional>
#include <string_view>

#include "program/explain/sensitivity.hpp"
#include "program/training_program.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"

namespace stepsim::study {

// Ranks that a collective runs over: all, those of one node, or one of every node.
enum class ProgramSpan { all, node, replica };

struct CollectiveTime {
  double startup_s{}; // with links of infinite bandwidth and free adding
  double data_s{};    // the rest
};

class ProgramLinks {
public:
  // `cluster`: the object of the file, `root` the file itself. Throws InputError with the problems
  // of the object.
  ProgramLinks(const io::Json& cluster, const io::Json& root, Files& files);

  [[nodiscard]] std::uint32_t ranks() const;
  [[nodiscard]] std::uint32_t nodes() const;
  [[nodiscard]] std::uint32_t gpus_per_node() const;
  // Latency and seconds per byte of the network between nodes; 0 where a curve or a fabric
  // replaces them.
  [[nodiscard]] program::LinkConstants constants() const;

  // Start-up and data of `bytes` bytes. A problem at `place` where the algorithm cannot run there.
  [[nodiscard]] CollectiveTime time(program::Kind collective, coll::AlgorithmId algorithm,
                                    double bytes, ProgramSpan span, const io::Json& place,
                                    io::Problems& problems) const;

private:
  Scenario scenario_;
};

} // namespace stepsim::study
