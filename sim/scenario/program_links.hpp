#pragma once
// Times the collectives of a program file on the cluster that the file describes.
#include <cstdint>

#include "document/checked.hpp"
#include "document/json.hpp"
#include "programs/explain/sensitivity.hpp"
#include "programs/training_program.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Ranks that a collective runs over: all, those of one node, or one of every node.
enum class ProgramSpan { all, node, replica };

struct CollectiveTime {
  double startup_s{}; // time at infinite bandwidth and with free adding; 0 with a curve or a fabric
  double data_s{};    // the rest of the time
};

class ProgramLinks {
public:
  // `cluster` is the object /cluster of the file `root`. Throws InputError with all its problems.
  ProgramLinks(const io::Json& cluster, const io::Json& root, Files& files);

  // Machines of one NVLink domain count as one node.
  [[nodiscard]] std::uint32_t ranks() const;
  [[nodiscard]] std::uint32_t nodes() const;
  [[nodiscard]] std::uint32_t gpus_per_node() const;
  // Returns latency and seconds per byte of the network between nodes; both are 0 without a
  // network, or if a curve or a fabric replaces them.
  [[nodiscard]] programs::LinkConstants constants() const;

  // The time of a collective of `bytes` bytes; 0 over one rank. Adds a problem at `place`, and
  // returns 0, if the algorithm cannot run on these ranks, or if `span` is node or replica and the
  // cluster has a fabric, a cost curve, no intra_network, or nodes that differ.
  [[nodiscard]] CollectiveTime time(programs::Kind collective, collectives::AlgorithmId algorithm,
                                    double bytes, ProgramSpan span, const io::Json& place,
                                    io::Problems& problems) const;

private:
  Scenario scenario_;
};

} // namespace stepsim::study
