// stepsim semantics FILE: a sparse algorithm on given vectors (SPA 7).
// The algorithm runs in coll/operators on real vectors; here its selections, merges and residuals
// become tables, and what the file expects is compared with what came out.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/shell/entry.hpp"
#include "study/semantics_result.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kSemanticsText{
    "semantics",
    "FILE",
    "Runs top-k or gTop-k with error feedback on the vectors of a file: selections, every merge, "
    "the\n"
    "result, residuals, lost entries. If the file says what is expected, exit code 4 where it "
    "differs.",
    "stepsim semantics examples/semantics-b.json\n"
    "stepsim semantics examples/semantics-b.json --json",
    "The file is described in docs/file-formats.md and schemas/sparse_semantics.schema.json.",
    kJsonOrTable,
};

// "{index:value, ...}", the first ten entries.
std::string vector_text(const collectives::SparseVector& vector) {
  constexpr std::size_t kShown = 10;
  std::string text = "{";
  for (std::size_t i = 0; i < std::min(vector.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(vector.indices[i]) + ":" +
            base::shortest(vector.values[i]);
  }
  if (vector.size() > kShown) {
    text += ", ... " + std::to_string(vector.size()) + " entries";
  }
  return text + "}";
}

// What `rank` selected and what is neither in the update nor in its residual: `step.lost` has the
// entries of all ranks. Such entries are the error that the final mask makes.
std::string lost_text(const collectives::FeedbackStep& step, std::uint32_t rank) {
  collectives::SparseVector lost;
  for (const collectives::LostEntry& each : step.lost) {
    if (each.rank == rank) {
      lost.indices.push_back(each.index);
      lost.values.push_back(each.value);
    }
  }
  return lost.size() > 0 ? vector_text(lost) : "-";
}

// One iteration: what each rank selected, every merge of the tree, and the result next to two
// yardsticks, the top k of the exact sum of the selected entries and that of the dense sum.
std::string step_text(const study::SemanticsFile& file, const collectives::FeedbackStep& step) {
  // Lists of entries are hard to compare where they are aligned to the right.
  Table ranks{{"  rank", "selected", "residual (final)", "residual (per_round)", "lost (final)"},
              {},
              "",
              true};
  for (std::uint32_t rank = 0; rank < file.ranks; ++rank) {
    ranks.rows.push_back({"  " + std::to_string(rank), vector_text(step.selected[rank]),
                          vector_text(step.final.residuals[rank]),
                          vector_text(step.per_round.residuals[rank]), lost_text(step, rank)});
  }
  std::string text = table_text(ranks);
  if (const auto& rounds = step.global.rounds; !rounds.empty()) {
    Table merges{{"  round", "rank", "from", "merged list"}, {}, "", true};
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      for (const collectives::Merge& merge : rounds[round]) {
        merges.rows.push_back({"  " + std::to_string(round), std::to_string(merge.rank),
                               std::to_string(merge.from), vector_text(merge.result)});
      }
    }
    text += "\n" + table_text(merges);
  }
  const collectives::SparseVector local =
      collectives::select_top_k(collectives::sparse_sum(step.selected), file.k);
  const collectives::SparseVector dense =
      collectives::select_top_k(collectives::sparse_sum(step.accumulated), file.k);
  return text + "\n" +
         table_text({{"  final", vector_text(step.global.result)},
                     {{"  update", vector_text(step.update)},
                      {"  exact local top k", vector_text(local)},
                      {"  dense top k", vector_text(dense)},
                      {"  conservation error",
                       base::shortest(step.final.conservation_error) + " (final), " +
                           base::shortest(step.per_round.conservation_error) + " (per_round)"}},
                     "",
                     true});
}

// A heading with the parameters, then one block per iteration.
std::string semantics_text(const study::SemanticsFile& file,
                           const std::vector<collectives::FeedbackStep>& steps) {
  std::string text = (file.name.empty() ? "" : base::printable(file.name) + ": ") +
                     std::string(collectives::kSparseMethods[file.method]) + ", ranks " +
                     std::to_string(file.ranks) + ", dims " + std::to_string(file.dims) + ", k " +
                     std::to_string(file.k) + ", residual mask " +
                     (file.mask == collectives::ResidualMask::final ? "final" : "per_round") + "\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += "\niteration " + std::to_string(i) + "\n" + step_text(file, steps[i]);
  }
  return text;
}

} // namespace

// The whole result is written even where it differs from `expected`, so that a user sees both and
// need not run it again.
int semantics(const Invocation& invocation) {
  std::string name;
  CLI::App app;
  add_argument(app, "FILE", name, "file of kind sparse_semantics; - = standard input");
  Common common(app, kSemanticsText, invocation);
  const study::SemanticsFile file = study::parse_semantics(io::read_json(name));
  const std::vector<collectives::FeedbackStep> steps = study::run_semantics(file);
  io::Json tree = study::semantics_tree(file, steps);
  const std::optional<study::Difference> difference = study::first_difference(file, tree);
  study::add_comparison(tree, file, difference);
  const std::string comparison = file.expected.is_null() ? ""
                                 : difference ? "\nexpected: differs at " + difference->pointer +
                                                    ": " + difference->message + "\n"
                                              : "\nexpected: all as in the file\n";
  write_document(common, {.text = [&] { return semantics_text(file, steps) + comparison; },
                          .tree = [&] { return tree; },
                          .warnings = study::semantics_warnings(file)});
  return difference ? report_error(name + ": " + difference->pointer + ": " + difference->message,
                                   kTargetNotMet, common.color)
                    : kOk;
}

} // namespace stepsim::cli
