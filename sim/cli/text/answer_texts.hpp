#pragma once
// The answers of commands as text for the terminal: sentences first, then tables.

#include "base/printable.hpp"
#include "cli/shell/document.hpp"
#include "run/flows_run.hpp"
#include "study/converge_scenario.hpp"
#include "study/trace_study.hpp"

namespace stepsim::cli {

// The output of `stepsim run` for a file of kind program: times, and how the period is spent by
// kind of operation and by link.
[[nodiscard]] std::string program_text(const study::Explained& explained);

// The changes under `heading`, with their steps, their gains, what the gain is at 80 % of all
// sites, "9.1 % to 12 %", "-" without a range, and "not told apart" where the order of the two
// steps is not sure.
[[nodiscard]] Table changes_table(std::string heading, std::span<const study::WhatIf> changes);

// The output of `stepsim explain`.
[[nodiscard]] std::string explain_text(const study::Explained& explained);

// ", 8 network cards per node" where several GPUs may share one card, which then decides more than
// its bandwidth does; else "".
[[nodiscard]] std::string cards_text(const study::Cluster& cluster);

// The text of `stepsim study`, at most 25 lines, and the sentences and tables that its page has,
// too.

// "mine: 76.90 ms a step, measured over 5 steps on 8 GPUs of one dgx_a100."
[[nodiscard]] std::string study_sentence(const study::TraceStudy& study);
// Parts below 0.5 % of the step are left out.
[[nodiscard]] Table gap_table(const study::TraceGap& gap);
// What is predicted of the trace's own machine with all that is carried, and of the half of the
// steps that the prediction has not seen.
[[nodiscard]] std::string carried_sentence(const study::TraceAnswer& answer);
// How well the library's model, fitted to logs, predicts what was left out of the fit.
[[nodiscard]] std::string library_sentence(const study::LibraryFromLogs& library);
[[nodiscard]] Table points_table(const study::TraceStudy& study);
// The best change of each effort, what the buckets would gain, and what to measure next.
[[nodiscard]] std::vector<std::string> help_sentences(const study::TraceStudy& study);

[[nodiscard]] std::string study_text(const study::TraceStudy& study);

// The output of `stepsim flows` for the terminal: summary, flows and links.

// Completion times (fct) are in ms, from the start of a flow to its last byte; starts are from time
// 0 of the simulation; loss and utilization are in percent. Long lists show only the 20 slowest
// flows and the 8 most used links; JSON has all of them.
[[nodiscard]] std::string flows_text(const study::FlowsFile& file,
                                     const study::FlowsResult& result);

// Writes the curves of `stepsim converge --problem logistic` as a table, JSON, JSON Lines (one
// curve per line) or CSV (one point per row).

struct NamedCurve {
  io::Object varied;                     // field name, value
  std::vector<std::string> varied_cells; // values of `varied` as text
  study::Curve curve;
  std::string error; // reason for a missing curve; "" if there is one
};

struct Curves {
  std::vector<std::string> varied; // names of the varied fields
  std::vector<NamedCurve> curves;  // at least one
};

// Sorts by the time to the target, with curves that do not reach it behind the others, then by the
// loss at the time when the shortest curve ends; failed curves come last.
void sort_best_first(Curves& found);

// The curves as a document; JSON has the warnings of all curves, too. Without varied fields, JSON
// is the one curve, without a list. Both arguments must outlive the document.
[[nodiscard]] Document curves_document(const Curves& found, const study::CurveOptions& options);

// The output of `stepsim run` for the terminal: settings, times in ms, where the time of an
// iteration goes, buckets, and the parts for networks, rounds and sharding.

// Leaves out parts that the result does not have, and lists at most 40 buckets. Control characters
// in text of users are escaped. `to_measure`: what would narrow the interval most, "one step on 2
// machines"; "" where that is not known.
[[nodiscard]] std::string run_text(const study::Result& result, std::string_view to_measure = {});

// The first buckets in launch order, at most `most`.
[[nodiscard]] Table buckets_table(const study::Result& result, std::size_t most);

// Lines that consist of a label and a text.

// A line "label         text" each; none where the text is empty. Labels are padded to `width`
// characters and must not be longer. Texts are escaped, because they may contain words of users.
using Labelled = std::pair<std::string_view, std::string_view>;
[[nodiscard]] inline std::string labelled(std::initializer_list<Labelled> lines,
                                          std::size_t width = 14) {
  std::string out;
  for (const auto& [label, text] : lines) {
    if (!text.empty()) {
      out.append(label).append(width - label.size(), ' ').append(base::printable(text) + "\n");
    }
  }
  return out;
}

// The lines and tables that `stepsim run` prints about a simulated network.

// One line about the fabric, which `cluster` must have:
//     flow level, leaf_spine.json: 16 hosts, 6 switches; ranks packed
[[nodiscard]] std::string fabric_text(const study::Cluster& cluster);
// Lines with the completion times of messages [ms], the loss of gradients [%], and the epochs and
// time to accuracy; a line whose numbers the result lacks is left out.
[[nodiscard]] std::string messages_text(const study::Summary& summary);
// A table of the iteration time [ms] of every job, alone and while the other jobs run, and of the
// second over the first; empty for one job.
[[nodiscard]] std::string jobs_text(const study::Result& result);
// A table of the five busiest links: utilization, MB and, at the packet level, longest queue
// [packets], marked and dropped packets. Empty without a simulated network.
[[nodiscard]] std::string links_text(const study::Result& result);

// How long the whole training takes and what it costs; "" without /job.
[[nodiscard]] std::string finish_text(const study::Result& result);

// Output lines about training in rounds of several steps (local_sgd, diloco).

// "diloco, rounds of 100 steps, 8 fragments, 1 step overlapped"; empty for other algorithms.
[[nodiscard]] std::string rounds_text(const study::Result& result);
// The data of the outer exchanges of a round, and the link that they have of their own: "ring
// allreduce of outer gradients, 8 messages, 4.943 GB; between 32 ranks over 82.22 MB/s, 40.00 ms
// per message".
[[nodiscard]] std::string outer_exchange_text(const study::Result& result);
// The duration of a round, the time of its outer exchanges, and the utilization. Needs a run in
// rounds.
[[nodiscard]] std::string round_times_text(const study::Result& result);

// Output lines about micro-batches and sharding.

// "full_shard (fsdp2), 34 units, 2 micro-batches, exchanged after the last"; "" for a run with
// neither.
[[nodiscard]] std::string sharding_text(const study::Result& result);
// "all-gather of 2-byte parameters, reduce-scatter of 4-byte gradients in groups of 8, all-reduce
// of their shards between the 16"; only for a sharded run.
[[nodiscard]] std::string sharded_exchange_text(const study::Result& result);
// "18.3 GB a rank: parameters 1 GB, .."; "" if the summary has no memory.
[[nodiscard]] std::string memory_text(const study::Summary& summary);

// The conditions of a run, and what its interval consists of, in words.

// What the run takes real training to lose: "typical: a message costs 1.040 ms more, ..".
[[nodiscard]] std::string conditions_text(const study::Scenario& scenario);
// "one step of 412.0 ms with /cluster/nodes=4, predicted 389.1 ms: 431.2 ms (401.2 to 462.0, 80 %)
// here"
[[nodiscard]] std::string measured_text(const study::MeasuredTotal& total);
// "c_cloud (rate of TCP between rented machines, bytes/s)"; `factor`: the name of a part of an
// interval.
[[nodiscard]] std::string part_text(std::string_view factor);
// What most of the interval of the iteration time comes from, and what narrows it: "c_cloud (..);
// measure one step on 2 machines". The summary has an interval; `to_measure` may be "".
[[nodiscard]] std::string interval_text(const study::Summary& summary, std::string_view to_measure);
// "estimated for h100 in bf16: 812 to 1270 ms"; the workload is estimated for a GPU.
[[nodiscard]] std::string estimate_text(const study::Scenario& scenario,
                                        const study::Summary& summary);

} // namespace stepsim::cli
