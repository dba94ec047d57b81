#include "scenario/scenario_training.hpp"

#include "document/json_text.hpp"
#include "scenario/files/keys/overlap_keys.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

std::string slowdown_words(const programs::Interference& overlap) {
  const double most = *std::ranges::max_element(overlap.compute);
  return fmt::format("overlap: computing is slowed by {}{} next to an exchange: ",
                     most == overlap.compute.front() ? "" : "up to ", base::significant(most));
}

// An H100 has 132 streaming multiprocessors, and a channel of NCCL occupies one of them.
constexpr double kMultiprocessors = 132;
constexpr double kChannels = 16;

constexpr std::array kOverlapRows{
    OverlapRow{"V100-PCIe/NCCL-2.4+TCP-10GbE", 2.26, "derived",
               "fitted to 18 measured steps of three networks on 16 V100; the version of the "
               "library is an assumption"},
    OverlapRow{"V100-PCIe/NCCL-2.4+IB-56G", 1.78, "derived",
               "fitted to 18 measured steps of three networks on 16 V100; the version of the "
               "library is an assumption"},
    OverlapRow{"H100-SXM/NCCL", kMultiprocessors / (kMultiprocessors - kChannels), "derived",
               "16 channels take 16 of 132 multiprocessors; contention for memory is left out, so "
               "that this is a lower bound"},
};

} // namespace

void parse_overlap(io::Fields& training, const ParseContext& context, Scenario& scenario) {
  programs::Interference& overlap = scenario.training.overlap;
  const bool shortly = training.has("compute_slowdown");
  scenario.training.overlap_given = shortly || training.has("overlap");
  overlap.compute.fill(training.number("compute_slowdown"));
  training.object("overlap", [&](io::Fields& fields) {
    const io::Slowdowns given = io::read_slowdowns(fields);
    fields.refuse_if(shortly && given.compute, "compute",
                     "give either compute or /training/compute_slowdown");
    if (given.compute) {
      overlap.compute = *given.compute;
    }
    bool has_compute = shortly || given.compute.has_value();
    if (const io::Json* name = fields.any("file");
        fields.optional_text("file") && name->is_string()) {
      const io::OverlapFile& file = context.files.overlap(*name);
      overlap.exchange = file.interference.exchange;
      if (!has_compute) {
        has_compute = true;
        overlap.compute = file.interference.compute;
        scenario.warnings.push_back(
            slowdown_words(overlap) + "calibrated" +
            (file.rows ? " by " + std::to_string(*file.rows) + " measured steps" : std::string()) +
            (file.source.empty() ? "" : "; " + file.source));
      }
    }
    if (const auto name = fields.optional_word("table"); name && !has_compute) {
      if (const auto* row = base::found(overlap_rows(), *name, &OverlapRow::name)) {
        overlap.compute.fill(row->compute);
        scenario.warnings.push_back(slowdown_words(overlap) + std::string(row->name) + ", " +
                                    std::string(row->label) + "; " + std::string(row->source));
      }
    }
    overlap.exchange = given.exchange.value_or(overlap.exchange);
  });
}

std::optional<double> one_slowdown(const programs::Interference& overlap) {
  const double first = overlap.compute.front();
  const bool one = std::ranges::all_of(overlap.compute, [&](double f) { return f == first; });
  return one && overlap.exchange == 1 ? std::optional(first) : std::nullopt;
}

void check_overlap(const io::Json& tree, const ParseContext& context, const Scenario& scenario) {
  const programs::Interference& overlap = scenario.training.overlap;
  if (!overlap.any()) {
    return;
  }
  const bool whole = io::resolve(tree, "/training/overlap") != nullptr;
  const std::string_view key = whole ? "overlap" : "compute_slowdown";
  const auto report = [&](const std::string& message) {
    context.problems.add(*tree.find("training"), key, message);
  };
  const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
  if (overlap.exchange > 1 && !planner.one_channel(scenario.communication.schedule_options) &&
      !planner.gathers_back()) {
    context.problems.add(*io::resolve(tree, "/training/overlap"), "exchange",
                         "is defined for fifo streams only");
  }
  if (scenario.training.algorithm == TrainingAlgorithm::parameter_server) {
    report(std::string(key) + " has no meaning for parameter_server");
  } else if (overlap.exchange > 1 && simulates_messages(scenario)) {
    context.problems.add(*io::resolve(tree, "/training/overlap"), "exchange",
                         "must be 1 where every message is simulated: the network gives the rates "
                         "of exchanges");
  }
}

// Under typical conditions a slowdown that is given takes the place of theirs, also one of 1.
void add_overlap(const Scenario& scenario, io::Json& tree) {
  const Training& training = scenario.training;
  const bool typical = is_typical(scenario);
  const auto one = one_slowdown(training.overlap);
  if (typical && !training.overlap_given) {
    return;
  }
  if (one && (*one > 1 || typical || training.algorithm == TrainingAlgorithm::pipe_sgd)) {
    tree.set("compute_slowdown", *one);
  } else if (training.overlap.any()) {
    tree.set("overlap", io::slowdown_tree(training.overlap, io::keys::computing_kinds()));
  }
}

std::span<const OverlapRow> overlap_rows() { return kOverlapRows; }

std::vector<std::string_view> overlap_names() {
  return base::collected<std::string_view>(kOverlapRows, &OverlapRow::name);
}

} // namespace stepsim::study
