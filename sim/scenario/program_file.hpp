#pragma once
// Reads a file of kind program (TRN 8.3). Operations refer to streams, groups and each other by
// id. A collective gets its time from the cluster in the file, which defines two groups of ranks:
//
//     node     the ranks of one node, over the network inside it
//     replica  one rank of every node, over the network between nodes. The G GPUs of a node belong
//              to G parts that share its R interfaces, so that bytes count ceil(G / R) times.
//
// A group of the file with one of these names replaces it; collectives over it are refused.
#include "buckets/planners.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "scenario/scenario.hpp"

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

// Reads parts of a file of kind program that do not depend on the rest of the file.

// Reads the object `overlap`: the slowdowns of compute (one number, or one per kind) and exchanges.
[[nodiscard]] programs::Interference parse_interference(const io::Json& overlap,
                                                        io::Problems& problems);

// Reads the object `groups`. programs::check() checks later that every rank is in exactly one part.
[[nodiscard]] std::vector<programs::Group> parse_groups(const io::Json& groups,
                                                        io::Problems& problems);

// Appends a warning if there are operations for which nothing waits, not even through the order of
// their fifo stream.
void add_unawaited(const programs::Program& program, std::vector<std::string>& warnings);

// Writes a program as a file of kind program.

// The tree of the file. parse_program() reads it back as the same program, bit by bit. All times
// are written as seconds, so that the file needs no cluster.
[[nodiscard]] io::Json program_tree(const ProgramFile& file);

// Times the collectives of a program file on the cluster that the file describes.

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

  // The time of a collective of `bytes` bytes; 0 over one rank. Without an algorithm it is that of
  // the library of a preset, of a measured curve, else of ring, and of mst for reduce and
  // broadcast. Adds a problem at `place`, and returns 0, if the algorithm cannot run on these
  // ranks, or if `span` is node or replica and the cluster has a fabric, a measured curve, no
  // intra_network, or nodes that differ.
  [[nodiscard]] CollectiveTime time(programs::Kind collective,
                                    std::optional<collectives::AlgorithmId> algorithm, double bytes,
                                    ProgramSpan span, const io::Json& place,
                                    io::Problems& problems) const;

private:
  [[nodiscard]] buckets::Cost library_cost(collectives::Op op, ProgramSpan span) const;
  // The measured curve, whose all-reduces count in part for other operations.
  [[nodiscard]] buckets::Cost measured_cost(collectives::Op op) const;

  Scenario scenario_;
};

// Reads a merge problem from a file (kind problem, MER 5): gradients in backward order with the
// times at which they are ready, from the start of the backward pass, and the cost of a message.
//   {"ready_s": [..], "bytes": [..], "cost": {"startup_s", "per_byte_s"} or {"table"} or FILE,
//    "channel_free_s"?, "copy_bandwidth_Bps"?, "forward_s"?, "planners"?: {NAME: {option: value}}}

struct ProblemFile {
  buckets::Problem problem;
  buckets::TableReport table;      // changes that made the table monotone
  std::string cost_warning;        // warning about a cost from a file (ChosenCost); "" = none
  std::optional<double> forward_s; // s; if given, plans have an iteration time, forward_s + finish
  std::vector<std::pair<buckets::Schedule, buckets::ScheduleOptions>> options; // from `planners`

  // The options of `planners`, else the defaults of the schedule.
  [[nodiscard]] buckets::ScheduleOptions options_of(buckets::Schedule schedule) const;
};

// Throws InputError with all problems (MER 12).
[[nodiscard]] ProblemFile parse_problem(const io::Json& tree, Files& files);

// The error for an unknown name: `unknown schedule "mgwfbp"; did you mean "mg_wfbp"?`
[[nodiscard]] std::string unknown_schedule(std::string_view name);
// The reason why a schedule cannot be in a problem file.
[[nodiscard]] std::string not_for_problem_files(const buckets::Planner& planner);

} // namespace stepsim::study
