#pragma once
// One prediction of the library model with everything that is known about it (CLU 11): from an
// operation, a shape, a size and a node type or calibration to a record.
#include <optional>
#include <string>
#include <vector>

#include "base/mean_interval.hpp"
#include "library/calibration.hpp"

namespace stepsim::library {

struct LibraryOptions {
  std::optional<Choice> choice{};            // else the calibration's, else published
  std::optional<Residual> residual{};        // else kriging with a calibration, none without
  std::optional<Version> version{};          // else the calibration's, else kPublishedVersion
  std::optional<ElementType> element_type{}; // empty: one that switches add
  std::vector<Algorithm> algorithms{};       // empty = all
  std::vector<Protocol> protocols{};         // empty = all
  bool ll128 = true;
  bool collnet = false;
  CollnetOptions collnet_options{};
};

struct LibraryQuestion {
  Operation operation{};
  Shape shape;
  double bytes{};                           // >= 0, as in library_words.hpp
  NodeType node;                            // of the preset, or of the calibration
  const Calibration* calibration = nullptr; // outlives the question
  LibraryOptions options{};
  // LibraryCost alone: so many standard deviations of log T above the prediction; -1.96 and 1.96
  // are the ends of the 95 % interval.
  double deviations = 0;
};

struct RunnerUp {
  Pair pair;
  double published_s{};
  double seconds{}; // of the physical model
};

struct LibraryRecord {
  Operation operation{};
  Shape shape;
  double ranks{};
  double bytes{};
  double seconds{};        // corrected by residuals, and at least the bound
  double physical_s{};     // without the correction
  base::Interval interval; // 95 %, of `seconds`
  Pair chosen;
  int channels{};
  Choice choice{};
  double published_s{};    // what NCCL expects of the chosen pair; of p2p the cost at factors 1
  double latency_part_s{}; // the terms of physical_s (operation_time.hpp)
  double transfer_part_s{};
  double cross_part_s{};
  Limit limited_by{};
  std::optional<RunnerUp> runner_up; // empty where one pair alone is allowed
  double algbw_Bps{};                // 0 for no bytes
  double busbw_Bps{};
  double bound_s{};
  BoundKind bound_kind{};
  double gap{};            // seconds / bound_s; 0 where the bound is 0
  std::string preset;      // name of the node type
  std::string calibration; // "" without one
  std::vector<std::string> warnings;
};

// Words with which a warning starts, for those who look for one.
inline constexpr std::string_view kWarnSmall = "uncalibrated_small_message";
inline constexpr std::string_view kWarnGeneration = "other_generation";
inline constexpr std::string_view kWarnSizes = "outside_measured_sizes";
inline constexpr std::string_view kWarnApproximate = "approximate";
inline constexpr std::string_view kWarnNics = "unused_nics";
inline constexpr std::string_view kWarnUnequal = "unequal_nodes";

// The model that prices the question, for callers that need many sizes of it.
[[nodiscard]] LibraryModel library_model(const LibraryQuestion& question);

// Throws UsageError where `predict` would, for less work.
void refuse_impossible(const LibraryQuestion& question);

// Throws UsageError: shape or rates that are no system (layout_of), no pair left, nvls or nvls_tree
// as the only algorithm where it does not exist (the message says why).
[[nodiscard]] LibraryRecord predict(const LibraryQuestion& question);

// Where the numbers of the answer are not to be trusted, in sentences.
[[nodiscard]] std::vector<std::string> warnings_of(const LibraryQuestion& question);

// The time of one operation by its bytes, for callers that need no record: `seconds` of predict, or
// an end of its interval.
class LibraryCost {
public:
  // Throws UsageError as predict.
  explicit LibraryCost(const LibraryQuestion& question);
  [[nodiscard]] double seconds(double bytes) const;

private:
  LibraryQuestion question_;
  LibraryModel model_;
  Layout layout_;
};

} // namespace stepsim::library
