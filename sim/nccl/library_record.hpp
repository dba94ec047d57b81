#pragma once
// Predicts one operation of the library for a shape, a size, and a node type or calibration, and
// returns the time together with its parts, interval, bound and warnings (CLU 11).

#include "nccl/calibration.hpp"

namespace stepsim::nccl {

struct LibraryOptions {
  std::optional<Choice> choice{};            // empty: as calibrated, else published
  std::optional<Residual> residual{};        // empty: kriging with a calibration, else none
  std::optional<Version> version{};          // empty: as calibrated, else kPublishedVersion
  std::optional<ElementType> element_type{}; // empty: a type that switches add
  std::vector<Algorithm> algorithms{};       // empty = all
  std::vector<Protocol> protocols{};         // empty = all
  bool ll128 = true;
  bool collnet = false;
};

struct LibraryQuestion {
  Operation operation{};
  Shape shape;
  double bytes{};                           // >= 0, as in library_words.hpp
  NodeType node;                            // from a preset or the calibration
  const Calibration* calibration = nullptr; // must outlive the question
  LibraryOptions options{};
  // Only for LibraryCost: standard deviations of log T to add to the prediction; -1.96 and 1.96
  // give the ends of the 95 % interval.
  double deviations = 0;
};

struct RunnerUp {
  Pair pair;
  double published_s{};
  double seconds{}; // by the physical model
};

struct LibraryRecord {
  Operation operation{};
  Shape shape;
  double ranks{};
  double bytes{};
  double seconds{};        // corrected by residuals, and at least bound_s
  double physical_s{};     // without the correction
  base::Interval interval; // 95 % interval of `seconds`; not below bound_s
  Pair chosen;
  int channels{};
  Choice choice{};
  double published_s{};    // NCCL's estimate for `chosen`; for p2p the cost with factors 1
  double latency_part_s{}; // terms of physical_s (candidates.hpp)
  double transfer_part_s{};
  double cross_part_s{};
  Limit limited_by{};
  std::optional<RunnerUp> runner_up; // empty if only one pair is allowed
  double algbw_Bps{};                // 0 for 0 bytes
  double busbw_Bps{};
  double bound_s{};
  BoundKind bound_kind{};
  double gap{};            // seconds / bound_s; 0 if bound_s is 0
  std::string preset;      // name of the node type
  std::string calibration; // name; "" without a calibration
  std::vector<std::string> warnings;
};

// The first words of warnings, for code that looks for one.
inline constexpr std::string_view kWarnSmall = "uncalibrated_small_message";
inline constexpr std::string_view kWarnGeneration = "other_generation";
inline constexpr std::string_view kWarnSizes = "outside_measured_sizes";
inline constexpr std::string_view kWarnApproximate = "approximate";
inline constexpr std::string_view kWarnNics = "unused_nics";
inline constexpr std::string_view kWarnUnequal = "unequal_nodes";

// Returns the model that predicts the question, for callers that need many sizes.
[[nodiscard]] LibraryModel library_model(const LibraryQuestion& question);

// Throws UsageError if predict() would, but predicts nothing.
void refuse_impossible(const LibraryQuestion& question);

// Predicts one operation. Throws UsageError if shape or rates are invalid (layout_of), if no pair
// is left, and if nvls or nvls_tree is the only algorithm but not available (the message says why).
[[nodiscard]] LibraryRecord predict(const LibraryQuestion& question);

// Returns a sentence for every reason not to trust the numbers of the prediction.
[[nodiscard]] std::vector<std::string> warnings_of(const LibraryQuestion& question);

// Seconds of one operation for many sizes, for callers that need no record: `seconds` of predict(),
// or an end of its interval (LibraryQuestion::deviations).
class LibraryCost {
public:
  // Throws UsageError if predict() would; question.bytes takes part in this check only.
  explicit LibraryCost(const LibraryQuestion& question);
  [[nodiscard]] double seconds(double bytes) const;

private:
  LibraryQuestion question_;
  LibraryModel model_;
  Layout layout_;
};

} // namespace stepsim::nccl
